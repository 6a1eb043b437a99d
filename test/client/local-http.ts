import { request, type IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/**
 * Resolves every `*.localhost` name to this machine (RFC 6761), which not every resolver does; other names as usual.
 */
export const localhostLookup: LookupFunction = (hostname, options, callback) => {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) {
    if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(null, '127.0.0.1', 4);
    return;
  }
  void import('node:dns').then(({ lookup }) => lookup(hostname, options, callback));
};

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  timeoutMs?: number;
}

/** Sends an HTTP request, also to `*.localhost` names; rejects on timeout. */
export function send(url: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = 'GET', body, timeoutMs = 30_000 } = options;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const headers = { ...length, ...options.headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, lookup: localhostLookup, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${url}: no answer within ${timeoutMs} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
