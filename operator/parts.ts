import type { Logger } from 'pino';
import type { Applier } from '../kubernetes/apply.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import type { RuntimeMetrics } from '../kubernetes/metrics.ts';
import type { OperatorCaches } from './caches.ts';
import type { OperatorConfig, OperatorSecrets } from './config.ts';
import type { Redis } from '../process/redis-connection.ts';
import type { VersionStore } from './environment/version-store.ts';
import type { GitHosts } from './hosts/git-hosts.ts';
import type { CredentialsFolder } from './registry/credentials-folder.ts';
import type { Registries } from './registry/create.ts';
import type { RepositoryConfigurations } from './repository/configuration.ts';
import type { Source } from './source/source.ts';

/** What the operator's reconcilers are made from. */
export interface OperatorParts {
  client: ClusterClient;
  applier: Applier;
  caches: OperatorCaches;
  redis: Redis;
  source: Source;
  hosts: GitHosts;
  configurations: RepositoryConfigurations;
  registries: Registries;
  versions: VersionStore;
  config: OperatorConfig;
  secrets: OperatorSecrets;
  /** For Coppice's own registry. */
  credentials: Pick<CredentialsFolder, 'current' | 'watch'>;
  metrics: RuntimeMetrics;
  events: Pick<EventRecorder, 'record'>;
  logger: Logger;
  now: () => Date;
}
