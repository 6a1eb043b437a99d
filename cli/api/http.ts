import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Resolves `*.localhost` to this machine (RFC 6761), which not every resolver does; other names as usual. */
export const localhostLookup: LookupFunction = (hostname, options, callback) => {
  if (hostname !== 'localhost' && !hostname.endsWith('.localhost')) lookup(hostname, options, callback);
  else if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};

export interface Outgoing {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Time without any received byte after which the connection is closed. */
  idleMs?: number;
}

const defaultIdleMs = 90_000;
/** Time in which a server must accept a WebSocket, in milliseconds. */
export const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Sends a request and returns the response with its body unread. Follows no redirect, so no token leaves the server. */
export function exchange(url: URL, { method, headers, body, signal, idleMs }: Outgoing): Promise<IncomingMessage> {
  const { request, globalAgent } = url.protocol === 'https:' ? https : http;
  if (method !== 'GET') closeIdleConnections(globalAgent);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    // The option, unlike setTimeout(), also applies while connecting, for which the agent permits only 5 s.
    const timeout = idleMs ?? defaultIdleMs;
    const shared = { method, timeout, lookup: localhostLookup };
    const options = { ...shared, headers: { ...headers, ...length }, ...(signal && { signal }) };
    const sent = request(url, options, (response) => {
      // The reader of the stream gets the error; without a listener it would end the process.
      response.on('error', () => undefined);
      resolve(response);
    });
    sent.on('timeout', () => sent.destroy(new Error('the server stopped responding')));
    sent.on('error', reject);
    sent.end(body);
  });
}

/**
 * Closes idle connections, so that the next request opens a new one. A request fails if the idle connection that it
 * reuses is closed or times out at the same moment, and only a read can be repeated. Node.js 24.21 also lets it time out
 * just after it was reused, if another timer of the same length is due in the same pass.
 */
function closeIdleConnections({ freeSockets }: http.Agent): void {
  for (const sockets of Object.values(freeSockets)) sockets?.forEach((socket) => socket.destroy());
}

/** Reads all of a response as text. */
export async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}
