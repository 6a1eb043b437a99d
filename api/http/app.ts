import express, { type ErrorRequestHandler, type Express } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { authenticated, Authenticator } from '../auth/authenticate.ts';
import { Directory } from '../auth/directory.ts';
import type { Passwords } from '../auth/passwords.ts';
import { Sessions, type SessionRedis } from '../auth/sessions.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import type { Config } from '../config.ts';
import { EnvironmentService } from '../environments/environment-service.ts';
import type { LogReader, LogTimes } from '../environments/log-stream.ts';
import { environmentRoutes, logRoutes } from '../environments/routes.ts';
import { GroupService } from '../groups/group-service.ts';
import { groupRoutes } from '../groups/routes.ts';
import { RepositoryService } from '../repositories/repository-service.ts';
import { repositoryRoutes } from '../repositories/routes.ts';
import { openUserRoutes, userRoutes } from '../users/routes.ts';
import { UserStore } from '../users/user-store.ts';
import { accessLog, requestId, requestIdOf } from './access-log.ts';
import { errorResponse } from './error-response.ts';
import { NotFound } from './errors.ts';
import { limitByAddress, limitByCaller, type StoreFactory } from './rate-limit.ts';
import { requestMetrics } from './request-metrics.ts';
import type { WebSockets } from './web-sockets.ts';

export interface AppDependencies {
  config: Pick<Config, 'ownOrigin' | 'webAddress' | 'registration' | 'limits' | 'usersNamespace' | 'trustedProxies'>;
  cluster: ClusterWriter;
  caches: Caches;
  sessions: SessionRedis;
  limitStores: StoreFactory;
  passwords: Passwords;
  logReader: LogReader;
  webSockets: WebSockets;
  /** Deadlines of log streams, where not the defaults. */
  logTimes?: LogTimes;
  now: () => number;
  randomBytes: RandomBytes;
  registry: Registry;
  logger: Logger;
}

/** The REST API, all of it: what every request passes, and the resources' routes. */
export function createApp(dependencies: AppDependencies): Express {
  const { config, cluster, caches, limitStores, passwords, logReader, webSockets, now, randomBytes, registry, logger } =
    dependencies;
  const { ownOrigin, webAddress, registration, limits } = config;
  const sessions = new Sessions(dependencies.sessions, now, randomBytes);
  const users = new UserStore(cluster, caches.users, config.usersNamespace);
  const authenticator = new Authenticator(sessions, users);
  const directory = new Directory(caches);
  const groups = new GroupService({ cluster, cache: caches.groups, randomBytes });
  const repositories = new RepositoryService({ cluster, cache: caches.repositories, randomBytes });
  const environments = new EnvironmentService({ cluster, cache: caches.environments, now, randomBytes });

  const app = express();
  app.set('trust proxy', config.trustedProxies);
  app.set('etag', false);
  app.enable('case sensitive routing');
  app.use(requestId(), accessLog(logger, now), requestMetrics(registry, now), helmet());
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });

  app.post(['/api/user/register', '/api/user/login'], limitByAddress(limits, limitStores, logger));
  openUserRoutes(app, { users, groups, sessions, passwords, policy: registration, randomBytes });

  app.use('/api', authenticated(authenticator, ownOrigin), limitByCaller(limits, limitStores, logger));
  userRoutes(app, { sessions });
  groupRoutes(app, { directory, groups, repositories });
  repositoryRoutes(app, { directory, environments, webAddress });
  environmentRoutes(app, { directory, environments, webAddress, ownOrigin });
  const times = dependencies.logTimes;
  logRoutes(app, {
    directory,
    authenticator,
    webSockets,
    cache: caches.environments,
    reader: logReader,
    logger,
    ...times,
  });

  app.use(() => {
    throw new NotFound('no such resource');
  });
  app.use(answerError(logger));
  return app;
}

function answerError(logger: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const { status, headers, body, isFault } = errorResponse(error);
    if (isFault) logger.error({ err: error, requestId: requestIdOf(response.locals) }, 'a request failed');
    if (response.headersSent) {
      next(error);
      return;
    }
    response.status(status).set(headers).json(body);
  };
}
