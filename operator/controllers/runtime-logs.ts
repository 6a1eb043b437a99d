import type { Logger } from 'pino';
import type { Environment } from '../../crds/environment.ts';
import { idOf } from '../../crds/ids.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { OperatorCaches } from './caches.ts';
import type { Flows } from '../source/hosts/flows.ts';
import { RuntimeLogs, type RuntimeLogsOptions } from '../reports/runtime-logs/runtime-logs.ts';

export interface CreateRuntimeLogsOptions {
  client: ClusterClient;
  caches: Pick<OperatorCaches, 'pods' | 'environments'>;
  flows: Pick<Flows, 'ofGroup'>;
  redis: RuntimeLogsOptions['redis'];
  logger: Logger;
}

/** Creates the logs of running services; changes to pods update them. */
export function createRuntimeLogs({ client, caches, flows, redis, logger }: CreateRuntimeLogsOptions): RuntimeLogs {
  const { pods, environments } = caches;
  const namespaceOf = (environment: Environment) => environmentNamespace(idOf(environment));
  const runtimeLogs = new RuntimeLogs({
    client,
    pods,
    environments,
    namespaceOf,
    ownerOf: (group) => flows.ofGroup(group),
    redis,
    now: () => new Date(),
    logger,
  });
  pods.addHandler((_type, pod) => runtimeLogs.follow(pod));
  return runtimeLogs;
}
