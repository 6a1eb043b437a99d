import type { IncomingMessage } from 'node:http';
import { isWebSocketUpgrade } from '../shared/web-socket-upgrade.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a request with a cookie comes from this API's own origin. Browsers attach cookies to requests of any
 * page, so writes and WebSocket upgrades must come from the API's own pages.
 */
export function isOwnOrigin(request: Pick<IncomingMessage, 'headers' | 'method'>, ownOrigin: string): boolean {
  const isUpgrade = isWebSocketUpgrade(request);
  if (safeMethods.has(request.method ?? '') && !isUpgrade) return true;
  const { origin } = request.headers;
  if (origin !== undefined) return origin === ownOrigin;
  // A browser that sends no Origin may send this header; an upgrade always has an Origin.
  return !isUpgrade && request.headers['sec-fetch-site'] === 'same-origin';
}

/**
 * Returns whether a GET must not start anything, because its cookie was sent on behalf of another site. Absent headers
 * mean a client other than a browser, or a typed address.
 */
export function isCrossOrigin(request: Pick<IncomingMessage, 'headers'>, ownOrigin: string): boolean {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== ownOrigin) return true;
  const site = request.headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}
