import type { IncomingMessage } from 'node:http';
import { isWebSocketUpgrade } from './web-sockets.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request that is authenticated by a cookie may come from where it comes from. Browsers attach cookies to
 * what any page sends, so a write, and a WebSocket upgrade, must come from a page of this API's own origin.
 */
export function isOwnOrigin(request: Pick<IncomingMessage, 'headers' | 'method'>, ownOrigin: string): boolean {
  const isUpgrade = isWebSocketUpgrade(request);
  if (safeMethods.has(request.method ?? '') && !isUpgrade) return true;
  const { origin } = request.headers;
  if (origin !== undefined) return origin === ownOrigin;
  // A browser that sends no Origin may still say this; an upgrade always carries an Origin.
  return !isUpgrade && request.headers['sec-fetch-site'] === 'same-origin';
}

/**
 * Whether a GET may start something: not for a cookie that another site made the browser send along (design: a
 * cross-origin cookie never starts a build). Absent headers mean a client that is no browser, or a typed address.
 */
export function isCrossOrigin(request: Pick<IncomingMessage, 'headers'>, ownOrigin: string): boolean {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== ownOrigin) return true;
  const site = request.headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}
