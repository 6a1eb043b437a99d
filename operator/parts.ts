import type { Logger } from 'pino';
import type { Applier } from '../kubernetes/apply.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import type { RuntimeMetrics } from '../kubernetes/metrics.ts';
import type { OperatorCaches } from './caches.ts';
import type { OperatorConfig, OperatorSecrets } from './config.ts';
import type { Redis } from './redis.ts';
import type { RepositoryAccess } from './repository/access.ts';
import type { Source } from './source/source.ts';

/** What the operator's reconcilers are made from. */
export interface OperatorParts {
  client: ClusterClient;
  applier: Applier;
  caches: OperatorCaches;
  redis: Redis;
  source: Source;
  access: RepositoryAccess;
  config: OperatorConfig;
  secrets: OperatorSecrets;
  metrics: RuntimeMetrics;
  logger: Logger;
  now: () => Date;
}
