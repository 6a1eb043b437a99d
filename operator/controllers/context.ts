import type { Logger } from 'pino';
import type { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { EventRecorder } from '../../kubernetes/event-recorder.ts';
import type { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import type { OperatorCaches } from './caches.ts';
import type { OperatorConfig, OperatorSecrets } from '../config.ts';
import type { Redis } from '../../process/redis-connection.ts';
import type { ContentBudget } from '../kinds/environment/revision/content-budget.ts';
import type { RevisionStore } from '../kinds/environment/revision/revision-store.ts';
import type { Flows } from '../source/hosts/flows.ts';
import type { GitHosts } from '../source/hosts/git-hosts.ts';
import type { OwnRegistryAccess } from '../images/registry/own-access.ts';
import type { Registries } from '../images/registry/registries.ts';
import type { AccessKeys } from '../services/access/access-keys.ts';
import type { TokenSecrets } from '../images/registry/token-secrets.ts';
import type { VisitLog } from '../kinds/environment/lifecycle/visit-log.ts';
import type { WakerBoard } from '../services/front/waker-board.ts';
import type { RepositoryConfigurations } from '../kinds/repository/configuration.ts';
import type { Source } from '../source/git/source.ts';

/** What the operator's reconcilers share. */
export interface OperatorContext {
  client: ClusterClient;
  applier: Applier;
  /** Applies what is in the namespaces of environments, with a limit for each tenant. */
  contentsApplier: Applier;
  /** Limits what the environments of a tenant make the operator write and store. */
  budget: ContentBudget;
  caches: OperatorCaches;
  redis: Redis;
  source: Source;
  flows: Flows;
  hosts: GitHosts;
  configurations: RepositoryConfigurations;
  registries: Registries;
  revisions: RevisionStore;
  /** Returns the key of hashes that are public but whose inputs are secret. */
  hashKey: () => Promise<Uint8Array>;
  /** Returns the ID of this installation. */
  installation: () => Promise<string>;
  config: OperatorConfig;
  secrets: OperatorSecrets;
  /** Keys that sign cookies and links of environments. */
  accessKeys: Pick<AccessKeys, 'reconcile' | 'keys'>;
  /** Access to Coppice's own registry. */
  access: OwnRegistryAccess;
  /** What the wakers are to know. */
  board: WakerBoard;
  /** The visits that the wakers have reported. */
  visits: VisitLog;
  tokenSecrets?: Pick<TokenSecrets, 'reconcile'>;
  metrics: RuntimeMetrics;
  events: Pick<EventRecorder, 'record'>;
  logger: Logger;
  now: () => Date;
}
