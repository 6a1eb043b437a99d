import express, { type ErrorRequestHandler, type Express } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { authenticated } from './auth/authenticate.ts';
import { Directory } from './auth/directory.ts';
import type { Passwords } from './auth/passwords.ts';
import type { RandomBytes } from './shared/tokens.ts';
import { freshByKind, type ClusterRequests, type FreshCaches } from './cluster/caches.ts';
import { orderedWriter } from './cluster/ordered-writer.ts';
import { ReadYourWrites } from './http/read-your-writes.ts';
import { sharedReads } from './cluster/shared-reads.ts';
import { WrittenVersions, type WrittenRedis } from './cluster/written-versions.ts';
import type { Config } from './config.ts';
import { EnvironmentService } from './environments/environment-service.ts';
import { requireQuotaBy } from './environments/group-quota.ts';
import type { LogTimes } from './environments/log-stream.ts';
import { type LogRoutes, logRoutes } from './environments/log-routes.ts';
import { buildRoutes } from './environments/build-routes.ts';
import { environmentRoutes } from './environments/routes.ts';
import { TestResultsReader, type ResultsTester } from './environments/test-results.ts';
import { testsRoutes } from './environments/tests-routes.ts';
import { GroupService } from './groups/group-service.ts';
import { MemberService } from './groups/member-service.ts';
import { Memberships } from './groups/memberships.ts';
import { groupRoutes } from './groups/routes.ts';
import { groupSettingsRoutes } from './groups/settings-routes.ts';
import { AccountCaps } from './limits/account-caps.ts';
import { heldMemory } from './limits/held-memory.ts';
import { limitMetrics } from './limits/limit-metrics.ts';
import { memoryBudget } from './limits/memory-budget.ts';
import { DEFAULT_VIEWER_LIMITS, viewers } from './limits/viewers.ts';
import { budgetedWriter, WriteBudget, type WriteBudgetRedis } from './limits/write-budget.ts';
import { docsPage } from './openapi/page.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { RepositoryService } from './repositories/repository-service.ts';
import { reusableRoutes } from './repositories/reusable-routes.ts';
import { repositoryRoutes } from './repositories/routes.ts';
import { ServiceFileTexts } from './repositories/service-file-texts.ts';
import { repositorySettingsRoutes } from './repositories/settings-routes.ts';
import { ServiceFileChecker } from './service-file-check/checker.ts';
import { checkRoutes } from './service-file-check/routes.ts';
import type { User } from './user-records/user-record.ts';
import { userServices, type UserServicesOptions } from './users/user-services.ts';
import { variableServices } from './variables/variable-services.ts';
import { Receiver } from './webhooks/receiver.ts';
import { Replays, type ReplayRedis } from './webhooks/replays.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { SyncRequests } from './webhooks/sync-requests.ts';
import { accessLog } from './http/access-log.ts';
import { auditedWriter, auditLog } from './http/audit-log.ts';
import { mount, refuseOtherMethods, type Endpoint } from './http/endpoint.ts';
import { errorPage, wantsErrorPage } from './http/error-page.ts';
import { errorResponse } from './http/error-response.ts';
import { NotFound } from './shared/errors.ts';
import { limitByAddress, limitDeliveries, limitRequests, type StoreFactory } from './limits/rate-limit.ts';
import { requestContext, requestContextOf } from './shared/request-context.ts';
import { requestMetrics } from './http/request-metrics.ts';
import { trustedProxies } from './http/trusted-proxies.ts';
import type { WebSockets } from './http/web-sockets.ts';

export interface AppOptions {
  config: Pick<
    Config,
    | 'ownOrigin'
    | 'webAddress'
    | 'maxEnvironmentsPerGroup'
    | 'limits'
    | 'budgets'
    | 'trustedProxies'
    | 'trustedProxyCidrs'
  > &
    UserServicesOptions['config'];
  cluster: ClusterRequests;
  caches: FreshCaches;
  sessions: UserServicesOptions['sessions'];
  written: WrittenRedis;
  replays: ReplayRedis;
  writeBudget: WriteBudgetRedis;
  limitStores: StoreFactory;
  passwords: Passwords;
  logReader: LogRoutes['reader'];
  runtimeLogs: LogRoutes['runtimeLogs'];
  webSockets: WebSockets;
  /** Absent if tests are disabled. */
  tester?: ResultsTester | undefined;
  /** Timeouts of log streams; defaults if absent. */
  logTimes?: LogTimes;
  fetch?: UserServicesOptions['fetch'];
  now: () => number;
  randomBytes: RandomBytes;
  registry: Registry;
  logger: Logger;
  auditLog: Pick<Logger, 'info'>;
}

/** Creates the REST API: middleware for every request, and the resources' routes. */
export function createApp(options: AppOptions): Express {
  const { config, caches, limitStores, logReader, webSockets, now, randomBytes, registry, logger } = options;
  const { ownOrigin, webAddress, maxEnvironmentsPerGroup, limits, budgets } = config;
  const readYourWrites = new ReadYourWrites(new WrittenVersions(options.written, logger), freshByKind(caches));
  const metrics = limitMetrics(registry);
  const budget = new WriteBudget({ redis: options.writeBudget, limits: budgets.written, metrics, logger, now });
  const ordered = orderedWriter(options.cluster, metrics);
  const cluster = readYourWrites.writer(auditedWriter(budgetedWriter(ordered, budget)));
  const directory = new Directory(caches);
  const requireQuota = requireQuotaBy(directory, maxEnvironmentsPerGroup);
  const groups = new GroupService({ cluster, cache: caches.groups, randomBytes });
  const registered = {
    createOwn: (owner: User) => readYourWrites.as(owner.name, () => groups.createOwn(owner)),
  };
  const memberships = new Memberships({ cluster, cache: caches.groups, directory });
  const members = new MemberService({
    cluster,
    cache: caches.groups,
    users: caches.users,
    usersNamespace: config.usersNamespace,
    now,
    randomBytes,
  });
  const ended = {
    leaveAll: (email: string) => memberships.leaveAll(email),
    leaveSeen: (user: User) => memberships.leaveSeen(user),
    ownedAlone: (user: User) =>
      directory
        .groups({ user, reach: undefined })
        .filter((group) => group.metadata.deletionTimestamp === undefined && directory.repositories(group).length > 0)
        .filter((group) => members.isOnlyOwner(group, user.email))
        .map(({ metadata }) => metadata.name),
    leaveMade: (former: User) => readYourWrites.as(former.name, () => memberships.leaveMade(former)),
  };
  const { authenticator, endpoints: userEndpoints } = userServices({
    ...options,
    cluster,
    directory,
    groups: registered,
    memberships: ended,
  });
  const texts = new ServiceFileTexts(cluster, randomBytes);
  const repositories = new RepositoryService({ cluster, cache: caches.repositories, texts, randomBytes });
  const variables = variableServices(cluster, caches, randomBytes);
  const environments = new EnvironmentService({ cluster, cache: caches.environments, now, randomBytes });

  const caps = new AccountCaps({ directory, limits: budgets.account, metrics });
  const memory = memoryBudget(budgets.requestMemoryBytes, registry, metrics);

  const app = express();
  app.set('trust proxy', trustedProxies(config.trustedProxies, config.trustedProxyCidrs));
  app.set('etag', false);
  app.enable('case sensitive routing');
  app.use(requestContext(), accessLog(logger, now, auditLog(options.auditLog)));
  app.use(requestMetrics(registry, now), helmet(), heldMemory(memory));
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });

  const syncRequests = new SyncRequests({ cluster, cache: caches.repositories, now });
  const replays = new Replays(options.replays, now);
  const receiver = new Receiver({
    cluster: sharedReads(cluster),
    cache: caches.repositories,
    replays,
    syncRequests,
    now,
  });
  const checker = new ServiceFileChecker(metrics);
  const checked = { groupVariables: variables.groups, repositoryVariables: variables.repositories };
  const endpoints: Endpoint[] = [
    ...userEndpoints,
    ...webhookRoutes(receiver),
    ...groupRoutes({ directory, groups, repositories, members, caps }),
    ...groupSettingsRoutes({ directory, groups, members, variables: variables.groups, caps }),
    ...reusableRoutes({ directory, cluster }),
    ...repositoryRoutes({ directory, repositories, environments, requireQuota, syncRequests, webAddress }),
    ...repositorySettingsRoutes({
      directory,
      repositories,
      variables: variables.repositories,
      texts,
      caps,
      checker,
      cluster,
    }),
    ...checkRoutes({ directory, checker, ...checked }),
    ...environmentRoutes({ directory, environments, requireQuota, webAddress, ownOrigin }),
    ...testsRoutes({ directory, environments, results: new TestResultsReader(cluster, options.tester) }),
    ...logRoutes({
      directory,
      authenticator,
      webSockets,
      cache: caches.environments,
      reader: logReader,
      runtimeLogs: options.runtimeLogs,
      viewers: viewers(DEFAULT_VIEWER_LIMITS, metrics, registry),
      logger,
      ...options.logTimes,
    }),
    // After the logs, which are under the same path as the builds.
    ...buildRoutes({ directory, cache: caches.environments, longPolls: webSockets.longPolls }),
  ];

  endpoints.push(...openApiRoutes(endpoints, ownOrigin));
  app.use('/api/docs', docsPage());

  app.post(['/api/user/register', '/api/user/login'], limitByAddress(limits, limitStores, logger));
  app.post('/api/webhooks/:type/:repoID', limitDeliveries(limits, limitStores, logger));
  mount(
    app,
    endpoints.filter(({ isOpen }) => isOpen),
  );
  const requestLimits = limitRequests(limits, limitStores, logger);
  app.use('/api', authenticated(authenticator, ownOrigin, requestLimits), readYourWrites.middleware());
  mount(
    app,
    endpoints.filter(({ isOpen }) => !isOpen),
  );
  refuseOtherMethods(app, endpoints);
  app.use(() => {
    throw new NotFound('no such resource');
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
