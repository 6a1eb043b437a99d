import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './forward.ts';

/** Seconds after which a refused client can try again. */
export const RETRY_SECONDS = 5;
/** How long a refused request is still read, in milliseconds. */
const lingerMs = 2000;

/** Headers of every response of the waker itself: the client must ask again, since the next one can be the service's. */
export const UNCACHED = { 'cache-control': 'no-store', connection: 'close' };

/** Refuses a request. @param retryAfter in seconds */
export function refuse(response: ServerResponse, status: number, error: string, retryAfter?: number): void {
  const retry = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const body = `${JSON.stringify({ error })}\n`;
  const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...type, 'x-robots-tag': 'noindex', ...retry, ...UNCACHED });
  endAfterRequest(response, body);
}

/**
 * Ends the response when the request's body has arrived, or after `lingerMs`. A connection that is closed with unread data is reset, and Ingress
 * controllers then answer 502 instead.
 */
function endAfterRequest(response: ServerResponse, body: string): void {
  const { req: request } = response;
  if (request.complete || !hasBody(request)) {
    response.end(body);
    return;
  }
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once('close', end).once('end', end).resume();
}

/** Refuses a request to an environment that a visit does not wake. */
export function refuseAsleep(response: ServerResponse): void {
  refuse(response, 503, 'the environment is asleep, and a visit does not wake it');
}

/** Refuses a request that exceeds a limit of waiting ones. */
export function refuseMany(response: ServerResponse): void {
  refuse(response, 503, 'too many requests wait for this environment or its group. Try again', RETRY_SECONDS);
}

/** Refuses a request that is not a visit, and serves robots.txt. */
export function answerRobot(response: ServerResponse, path: string): void {
  if (path !== '/robots.txt') {
    refuse(response, 503, 'the environment is asleep', 3600);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/plain', ...UNCACHED }).end('User-agent: *\nDisallow: /\n');
}

/**
 * Refuses an upgrade, of which a client sees only the status. Content is read, and the connection ended after
 * `lingerMs` in any case: one with unread content would never close, and connections are limited.
 */
export function refuseUpgrade(client: Socket): void {
  const timer = setTimeout(() => client.destroy(), lingerMs);
  client.once('close', () => clearTimeout(timer)).resume();
  client.end(
    `HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${RETRY_SECONDS}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}
