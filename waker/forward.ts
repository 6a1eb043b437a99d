import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Headers that concern one connection (RFC 9110, 7.6.1), and those that this server has answered itself. */
const hopByHop = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
]);

/** The pod ended the connection before it answered. */
export class NoAnswerError extends Error {}

/**
 * Sends a request to a pod, with its body as it arrives, and its response back.
 * @throws NoAnswerError if the pod ended the connection before its response; any other error ends both connections
 */
export async function forward(request: IncomingMessage, response: ServerResponse, socket: Socket): Promise<void> {
  const upstream = http.request({
    createConnection: () => socket,
    method: request.method,
    path: request.url,
    headers: [...forwardedHeaders(request), 'Connection', 'close'],
    setHost: false,
  });
  // Trailers and interim responses, which hardly any application uses, are not forwarded.
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.once('error', (cause) => reject(new NoAnswerError('the pod did not answer', { cause })));
    upstream.once('upgrade', () => reject(new NoAnswerError('the pod switched protocols unasked')));
  });
  response.once('close', () => upstream.destroy());
  if (hasBody(request)) pipeline(request, upstream).catch(() => upstream.destroy());
  else upstream.end();
  const answer = await answered;
  response.sendDate = false;
  // The next request of this client is to find its way to the pod without the waker.
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
    ...withoutHops(answer.rawHeaders),
    ...['Connection', 'close'],
  ]);
  response.flushHeaders();
  await pipeline(answer, response);
}

/** Whether the request can be sent once more: nothing of it is lost, and it changes nothing. */
export function isRepeatable(request: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '') && !hasBody(request);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function forwardedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const kept = withoutHops(rawHeaders);
  return headers['transfer-encoding'] === undefined ? kept : [...kept, 'Transfer-Encoding', 'chunked'];
}

/** Returns headers, as names and values in turn, without those of the connection. */
function withoutHops(raw: readonly string[]): string[] {
  const pairs = pairsOf(raw);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim().toLowerCase()));
  const dropped = new Set([...hopByHop, ...named]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_none, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? '']);
}

/** Sends the head of an upgrade to a pod, and then everything in both directions. */
export function tunnel(request: IncomingMessage, client: Socket, head: Buffer, socket: Socket): Promise<void> {
  const lines = pairsOf(request.rawHeaders).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${[`${request.method} ${request.url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
  socket.write(head);
  return new Promise((resolve) => {
    const end = () => {
      client.destroy();
      socket.destroy();
      resolve();
    };
    client.on('error', end).on('close', end);
    socket.on('error', end).on('close', end);
    client.pipe(socket);
    socket.pipe(client);
  });
}
