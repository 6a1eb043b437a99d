import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { loggedPath, type Auditor } from './audit-log.ts';
import { requestContextOf } from '../shared/request-context.ts';

/** Logs one line for each request, in addition to the audit log: never a query, a body, a token or a cookie. */
export function accessLog(logger: Logger, now: () => number, audit: Auditor): RequestHandler {
  return (request, response, next) => {
    const started = now();
    const audited = audit(request);
    response.once('close', () => {
      logger.info(
        {
          requestId: requestContextOf(response.locals).id,
          method: request.method,
          path: loggedPath(request.originalUrl.split('?')[0] ?? ''),
          status: response.statusCode,
          milliseconds: now() - started,
        },
        'request',
      );
      audited(response);
    });
    next();
  };
}
