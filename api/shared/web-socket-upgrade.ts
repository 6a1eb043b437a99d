import type { IncomingMessage } from 'node:http';

/**
 * Returns whether to upgrade the connection, for the HTTP server's option `shouldUpgradeCallback`. Other upgrade
 * requests are handled as plain requests.
 */
export function isWebSocketUpgrade({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}
