import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../kubernetes/clock.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import type { PodStreams } from '../kubernetes/pod-streams.ts';
import type { Passwords } from './auth/passwords.ts';
import type { RandomBytes } from './shared/tokens.ts';
import type { AccessKey } from '../environment-access/keys.ts';
import type { CodeRedis } from './environment-access/codes.ts';
import type { ClusterRequests, FreshCaches } from './cluster/caches.ts';
import type { WrittenRedis } from './cluster/written-versions.ts';
import type { CheckerTimes } from './service-file-check/checker.ts';
import type { Config } from './config.ts';
import type { LogTimes } from './environments/log-stream.ts';
import type { LogRoutesOptions } from './environments/log-routes.ts';
import type { ResultsTester } from './environments/test-results.ts';
import type { WriteBudgetRedis } from './limits/write-budget.ts';
import type { UserServicesOptions } from './users/user-services.ts';
import type { SnapshotRedis } from './repositories/ref-snapshots.ts';
import type { ReplayRedis } from './webhooks/replays.ts';
import type { StoreFactory } from './limits/rate-limit.ts';
import type { WebSockets } from './http/web-sockets.ts';
import type { CommandLine } from './command-line/router.ts';
import type { PanelFiles } from './panel/panel-files.ts';

export interface AppOptions {
  config: Pick<
    Config,
    | 'ownOrigin'
    | 'webAddress'
    | 'defaultAccess'
    | 'ownVariables'
    | 'maxEnvironmentsPerGroup'
    | 'limits'
    | 'budgets'
    | 'shell'
    | 'trustedProxies'
    | 'trustedProxyCidrs'
  > &
    UserServicesOptions['config'];
  cluster: ClusterRequests;
  /** Lists what no cache has: Events, pods, and the CPU and memory that they use. */
  clusterReads: Pick<ClusterClient, 'list'>;
  podStreams: Pick<PodStreams, 'exec' | 'portForward'>;
  caches: FreshCaches;
  sessions: UserServicesOptions['sessions'];
  written: WrittenRedis;
  replays: ReplayRedis;
  writeBudget: WriteBudgetRedis;
  /** Codes with which visitors return to environments. */
  accessCodes: CodeRedis;
  snapshots: SnapshotRedis;
  /** Keys of access tokens. */
  accessKeys: () => readonly AccessKey[];
  limitStores: StoreFactory;
  passwords: Passwords;
  logReader: LogRoutesOptions['reader'];
  runtimeLogs: LogRoutesOptions['runtimeLogs'];
  webSockets: WebSockets;
  /** Absent if the panel is not built. */
  panel?: PanelFiles | undefined;
  /** Absent if the command line is not built. */
  commandLine?: CommandLine | undefined;
  /** Absent if tests are disabled. */
  tester?: ResultsTester | undefined;
  /** Timeouts of log streams and shell sessions; defaults if absent. */
  logTimes?: LogTimes;
  /** Timeouts of checks of service files; defaults if absent. */
  checkerTimes?: CheckerTimes;
  fetch?: UserServicesOptions['fetch'];
  now: () => number;
  /** Timers of event streams; defaults to the process's. */
  clock?: Clock | undefined;
  randomBytes: RandomBytes;
  registry: Registry;
  logger: Logger;
  auditLog: Pick<Logger, 'info'>;
}
