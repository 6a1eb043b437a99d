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

/** The pod's response has a status or header that HTTP does not allow. */
export class MalformedAnswerError extends Error {}

/**
 * Sends a request to a pod, with its body as it arrives, and its response back.
 * @throws NoAnswerError if the pod ended the connection before its response; MalformedAnswerError; any other error ends
 * both connections
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
  const headers = [...withoutHops(answer.rawHeaders), ...['Connection', 'close']];
  try {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
  } catch (cause) {
    upstream.destroy();
    throw new MalformedAnswerError('the response cannot be forwarded', { cause });
  }
  response.flushHeaders();
  await pipeline(answer, response);
}

/** Returns whether the request can be sent once more: nothing of it is lost, and it changes nothing. */
export function isRepeatable(request: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '') && !hasBody(request);
}

/** Returns whether content follows the head. */
export function hasBody({ headers }: IncomingMessage): boolean {
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

/**
 * Sends an upgrade to a pod, and everything in both directions once the pod has switched protocols. Until then the client's
 * connection is not the pod's: after any other answer an Ingress controller would use it for the requests of others.
 */
export function tunnel(request: IncomingMessage, client: Socket, head: Buffer, socket: Socket): Promise<void> {
  const upstream = http.request({
    createConnection: () => socket,
    method: request.method,
    path: request.url,
    headers: [...withoutHops(request.rawHeaders), 'Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''],
    setHost: false,
  });
  return new Promise((resolve) => {
    const end = () => {
      client.destroy();
      upstream.destroy();
      socket.destroy();
      resolve();
    };
    client.once('error', end).once('close', end);
    upstream.on('error', end);
    upstream.once('upgrade', (answer, _socket, first) => {
      socket.once('error', end).once('close', () => client.destroySoon());
      client.write(headOf(answer, ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? '']), 'latin1');
      client.write(first);
      socket.write(head);
      client.pipe(socket);
      socket.pipe(client);
    });
    upstream.once('response', (answer) => {
      // Whatever else the client sends is for nobody.
      client.resume();
      client.write(headOf(answer, ['Connection', 'close']), 'latin1');
      // The end of the connection ends a body without length, so a body that breaks off must not end it in order.
      pipeline(answer, client).then(end, () => {
        client.resetAndDestroy();
        end();
      });
    });
    upstream.end();
  });
}

/** Returns the head of an answer as it is sent, with these headers of the connection. */
function headOf({ statusCode = 502, statusMessage = '', rawHeaders }: IncomingMessage, hops: string[]): string {
  const lines = pairsOf([...withoutHops(rawHeaders), ...hops]).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines].join('\r\n')}\r\n\r\n`;
}
