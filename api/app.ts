import express, { type ErrorRequestHandler, type Express } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { authenticated } from './auth/authenticate.ts';
import type { Config } from './config.ts';
import { heldMemory } from './limits/held-memory.ts';
import { docsPage } from './openapi/page.ts';
import { accessLog } from './http/access-log.ts';
import { auditLog } from './http/audit-log.ts';
import { mount, refuseOtherMethods } from './http/endpoint.ts';
import { errorPage, wantsErrorPage } from './http/error-page.ts';
import { errorResponse } from './http/error-response.ts';
import { NotFound } from './shared/errors.ts';
import { NO_SUCH_RESOURCE } from './shared/messages.ts';
import { commandLineRouter } from './command-line/router.ts';
import { panelRouter, unknownPage } from './panel/router.ts';
import {
  limitAccess,
  limitByAddress,
  limitDeliveries,
  limitInvitations,
  limitRequests,
  limitSignIns,
} from './limits/rate-limit.ts';
import { requestContext, requestContextOf } from './shared/request-context.ts';
import { requestMetrics } from './http/request-metrics.ts';
import { trustedProxies } from './http/trusted-proxies.ts';
import type { AppOptions } from './app-options.ts';
import { createEndpoints } from './endpoints.ts';
import { createServices } from './services.ts';

/** Creates the REST API: middleware for every request, and the resources' routes. */
export function createApp(options: AppOptions): Express {
  const { config, limitStores, now, registry, logger } = options;
  const { ownOrigin, limits } = config;
  const services = createServices(options);
  const endpoints = createEndpoints(options, services);

  const app = express();
  app.set('trust proxy', trustedProxies(config.trustedProxies, config.trustedProxyCidrs));
  app.set('etag', false);
  app.enable('case sensitive routing');
  app.use(requestContext(), accessLog(logger, now, auditLog(options.auditLog)));
  app.use(requestMetrics(registry, now), helmet(), heldMemory(services.memory));
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    // The access log, metrics, budgets and a stream's pipeline each wait for the end of a response.
    response.setMaxListeners(20);
    next();
  });
  app.use('/api/docs', docsPage());
  if (options.panel) app.use(panelRouter(options.panel));
  if (options.commandLine) app.use(commandLineRouter(options.commandLine));

  app.post(['/api/user/register', '/api/user/login'], limitByAddress(limits, limitStores, logger));
  app.post('/api/user/invitation/check', limitInvitations(limits, limitStores, logger));
  app.post('/api/access/password', limitAccess(limits, limitStores, logger));
  app.post(
    ['/api/user/device', '/api/user/device/token', '/api/user/authorizations/token'],
    limitSignIns(limits, limitStores, logger),
  );
  app.post('/api/webhooks/:type/:repoID', limitDeliveries(limits, limitStores, logger));
  mount(
    app,
    endpoints.filter(({ isOpen }) => isOpen),
  );
  const requestLimits = limitRequests(limits, limitStores, logger);
  app.use('/api', authenticated(services.authenticator, ownOrigin, requestLimits));
  app.use('/api', services.readYourWrites.middleware());
  mount(
    app,
    endpoints.filter(({ isOpen }) => !isOpen),
  );
  refuseOtherMethods(app, endpoints);
  if (options.panel) app.use(unknownPage(options.panel));
  app.use(() => {
    throw new NotFound(NO_SUCH_RESOURCE);
  });
  app.use(answerError(logger, config));
  return app;
}

function answerError(logger: Logger, { ownOrigin, oidc }: Pick<Config, 'ownOrigin' | 'oidc'>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const answer = errorResponse(error);
    const { status, headers, body, isFault } = answer;
    if (isFault) logger.error({ err: error, requestId: requestContextOf(response.locals).id }, 'a request failed');
    if (response.headersSent) {
      next(error);
      return;
    }
    response.status(status).set(headers);
    if (!wantsErrorPage(request)) {
      // The handler may have set another type before it failed.
      response.type('json').json(body);
      return;
    }
    const loginPath = oidc && '/api/user/oidc/login';
    response.type('html').send(errorPage(answer, { url: `${ownOrigin}${request.originalUrl}`, loginPath }));
  };
}
