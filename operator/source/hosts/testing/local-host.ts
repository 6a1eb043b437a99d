import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSend } from '../../network/send.ts';
import { portOf } from '../../network/addresses.ts';
import { HostHttp } from '../host-http.ts';

export interface LocalHost {
  url: string;
  /** Each request as `METHOD /path?query`, with its headers and body. */
  requests: { line: string; headers: IncomingMessage['headers']; body: unknown }[];
  answer: (answer: RequestListener) => void;
  close: () => Promise<void>;
}

/** Starts a local server with the test's responses. */
export async function startLocalHost(): Promise<LocalHost> {
  const requests: LocalHost['requests'] = [];
  let listener: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const line = `${request.method ?? ''} ${request.url ?? ''}`;
      requests.push({ line, headers: request.headers, body: text === '' ? undefined : JSON.parse(text) });
      listener(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (answer) => (listener = answer),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(value));
}

/** Responds by `METHOD /path` without the query; 404 for all others. */
export function byRoute(routes: Record<string, unknown>): RequestListener {
  return (request, response) => {
    const value = routes[`${request.method ?? ''} ${(request.url ?? '').split('?')[0]}`];
    if (value === undefined) sendJson(response, { message: 'Not Found' }, {}, 404);
    else sendJson(response, value);
  };
}

/** Creates a client that connects only to these servers, with a timeout of `timeoutMs`. */
export function localHttp(
  hosts: readonly LocalHost[],
  timeoutMs = 2000,
  now = () => new Date('2026-01-01T00:00:00Z'),
): HostHttp {
  return new HostHttp({
    send: createSend({ timeoutMs }),
    ports: hosts.map(({ url }) => portOf(new URL(url))),
    now,
  });
}
