import type { Environment } from '../crds/environment.ts';
import { logRoutes } from './environments/log-routes.ts';
import { buildRoutes } from './environments/build-routes.ts';
import { accessRoutes } from './environment-access/routes.ts';
import { groupUsageRoutes } from './environment-details/group-usage-routes.ts';
import { environmentDetailRoutes } from './environment-details/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { environmentRoutes } from './environments/routes.ts';
import { testsRoutes } from './environments/tests-routes.ts';
import { groupRoutes } from './groups/routes.ts';
import { groupSettingsRoutes } from './groups/settings-routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { overrideRoutes } from './overrides/routes.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { reusableRoutes } from './repositories/reusable-routes.ts';
import { repositoryRoutes } from './repositories/routes.ts';
import { rulesRoutes } from './repositories/rules-routes.ts';
import { repositorySettingsRoutes } from './repositories/settings-routes.ts';
import { sessionAudit } from './http/audit-log.ts';
import { OpenSessions } from './shell/open-sessions.ts';
import { shellRoutes } from './shell/routes.ts';
import { checkRoutes } from './service-file-check/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import type { Endpoint } from './http/endpoint.ts';
import type { AppOptions } from './app-options.ts';
import type { Services } from './services.ts';

/** Returns the endpoints of the REST API. */
export function createEndpoints(
  {
    config,
    caches,
    clusterReads,
    podStreams,
    webSockets,
    logReader,
    runtimeLogs,
    logger,
    logTimes,
    clock,
    randomBytes,
    auditLog,
  }: AppOptions,
  services: Services,
): Endpoint[] {
  const { ownOrigin, webAddress, ownVariables } = config;
  const { directory, cluster, groups, members, repositories, environments, variables, checker } = services;
  const {
    authenticator,
    texts,
    caps,
    changeSettings,
    requireQuota,
    syncRequests,
    results,
    viewers,
    endpoints: userEndpoints,
  } = services;
  const { groups: groupVariables, repositories: repositoryVariables } = variables;
  const checked = { groupVariables, repositoryVariables };
  const settings = {
    directory,
    access: services.access.settings,
    repositories,
    variables: repositoryVariables,
    texts,
    caps,
    checker,
    cluster,
    members,
  };
  const inEffect = { ...checked, environmentVariables: variables.environments };
  const logs = { directory, authenticator, webSockets, viewers, logger, reader: logReader, runtimeLogs };
  const { keepaliveMs, checkMs } = logTimes ?? {};
  const shell = { directory, settings: config.shell, logger };
  const keepAwake = (environment: Environment) => environments.setAsleep(environment, false);
  const sessions = new OpenSessions({ ...shell, caches, authenticator, keepAwake, checkMs });
  const endpoints = [
    ...userEndpoints,
    ...webhookRoutes(services.receiver),
    ...groupRoutes({
      ...{ directory, groups, repositories, members, caps },
      requestSync: (repository) => syncRequests.ask(repository),
    }),
    ...groupSettingsRoutes({ directory, groups, members, variables: groupVariables, caps }),
    ...reusableRoutes({ directory, cluster }),
    ...repositoryRoutes({ directory, repositories, environments, requireQuota, caps, syncRequests, webAddress }),
    ...repositorySettingsRoutes(settings),
    ...rulesRoutes({ directory, snapshots: services.snapshots }),
    ...checkRoutes({ directory, checker, ownVariables, ...checked }),
    ...environmentRoutes({ directory, environments, changeSettings, requireQuota, webAddress, ownOrigin }),
    ...accessRoutes({ directory, members, cluster, cache: caches.environments, webAddress, ...services.access }),
    ...overrideRoutes({ directory, overrides: services.overrides, variables: variables.environments, caps, checker }),
    ...testsRoutes({ directory, environments, results }),
    ...logRoutes({ ...logs, cache: caches.environments, ...logTimes }),
    ...shellRoutes({
      ...{ ...shell, sessions, webSockets, podStreams, keepaliveMs, cluster: clusterReads },
      ...{ accounts: services.shellAccounts, groups: services.shellGroups, audit: sessionAudit(auditLog) },
    }),
    // After the logs, which are under the same path as the builds.
    ...buildRoutes({ directory, authenticator, cache: caches.environments, longPolls: webSockets.longPolls }),
    ...environmentDetailRoutes({ directory, reads: clusterReads, ownVariables, ...inEffect }),
    ...groupUsageRoutes({ directory, reads: clusterReads }),
    ...overviewRoutes({ directory, caches }),
    ...eventRoutes({ hub: services.hub, viewers: services.eventViewers, authenticator, clock, randomBytes, logger }),
  ];
  return [...endpoints, ...openApiRoutes(endpoints, ownOrigin)];
}
