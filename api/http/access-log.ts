import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

const header = 'X-Request-Id';
/** Short, and nothing that could break a log line or a header. */
const saneId = /^[A-Za-z0-9._-]{1,64}$/;

/** Every request has an id, ours or the caller's, which the answer carries too. */
export function requestId(): RequestHandler {
  return (request, response, next) => {
    const given = request.get(header);
    const id = given !== undefined && saneId.test(given) ? given : randomUUID();
    response.locals['requestId'] = id;
    response.setHeader(header, id);
    next();
  };
}

export function requestIdOf(locals: Record<string, unknown>): string {
  return String(locals['requestId']);
}

/** One line for each request: never a query, a body, a token or a cookie. */
export function accessLog(logger: Logger, now: () => number): RequestHandler {
  return (request, response, next) => {
    const started = now();
    response.once('close', () => {
      logger.info(
        {
          requestId: requestIdOf(response.locals),
          method: request.method,
          path: request.originalUrl.split('?')[0],
          status: response.statusCode,
          milliseconds: now() - started,
        },
        'request',
      );
    });
    next();
  };
}
