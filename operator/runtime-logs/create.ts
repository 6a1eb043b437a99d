import type { Logger } from 'pino';
import type { Environment } from '../../crds/environment.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import { environmentNamespace } from '../../crds/names.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { OperatorCaches } from '../caches.ts';
import { RuntimeLogs, type RuntimeLogsOptions } from './runtime-logs.ts';

export interface RuntimeLogsParts {
  client: ClusterClient;
  caches: Pick<OperatorCaches, 'pods' | 'environments'>;
  redis: RuntimeLogsOptions['redis'];
  logger: Logger;
}

/** The logs of running services, told of every change of a pod. */
export function createRuntimeLogs({ client, caches, redis, logger }: RuntimeLogsParts): RuntimeLogs {
  const { pods, environments } = caches;
  const namespaceOf = ({ metadata }: Environment) =>
    environmentNamespace({ group: groupOfNamespace(metadata.namespace ?? '') ?? '', name: metadata.name });
  const runtimeLogs = new RuntimeLogs({
    client,
    pods,
    environments,
    namespaceOf,
    redis,
    now: () => new Date(),
    logger,
  });
  pods.addHandler((_type, pod) => runtimeLogs.lookAt(pod));
  return runtimeLogs;
}
