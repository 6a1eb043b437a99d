import { randomBytes } from 'node:crypto';
import { MemoryStore } from 'express-rate-limit';
import { Registry } from 'prom-client';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { Passwords } from '../auth/passwords.ts';
import type { AppOptions } from '../app-options.ts';
import type { Budgets } from '../limits/budgets.ts';
import { WebSockets } from '../http/web-sockets.ts';
import { FakeLogReader } from './fake-log-reader.ts';
import { FakeRuntimeLogs } from './fake-runtime-logs.ts';

export const TEST_NAMESPACE = 'coppice-system';
export const TEST_ORIGIN = 'http://coppice.localhost:8080';

/** Limits for tests that send more requests than a real client. */
export const UNLIMITED = { limits: { loginsPerMinute: 1000, requestsPerMinute: 100_000 } };

/** Budgets with the chart's defaults. */
export const TEST_BUDGETS: Budgets = {
  requestMemoryBytes: 64 * 1024 * 1024,
  account: { groups: 50, repositories: 200, environments: 2000, textBytes: 4 * 1024 * 1024 },
  written: { perMinute: 4 * 1024 * 1024, perHour: 64 * 1024 * 1024 },
};

/** Cheap parameters, so that a test with a hundred logins is fast. */
export const weakPasswords = new Passwords(randomBytes, { ln: 4, r: 8, p: 1 });

const testKeys = [{ createdAt: 1_700_000_000, key: randomBytes(32) }];

export interface TestOptions extends Partial<Omit<AppOptions, 'config'>> {
  cluster: AppOptions['cluster'];
  caches: AppOptions['caches'];
  redis: AppOptions['sessions'] &
    AppOptions['written'] &
    AppOptions['replays'] &
    AppOptions['writeBudget'] &
    AppOptions['accessCodes'] &
    AppOptions['snapshots'];
  config?: Partial<AppOptions['config']>;
}

/** Returns options for the API: those of the test, and defaults for all others. */
export function testOptions({ redis, config, ...given }: TestOptions): AppOptions {
  const logReader = new FakeLogReader();
  return {
    config: {
      ownOrigin: TEST_ORIGIN,
      webAddress: { scheme: 'http', domain: 'env.localhost', port: 8080 },
      ownVariables: { environmentsUrl: new URL('http://env.localhost:8080'), registry: 'registry:5000' },
      registration: { mode: 'open', domains: [], provesAddress: false },
      defaultAccess: 'public',
      maxEnvironmentsPerGroup: 200,
      limits: { loginsPerMinute: 1000, requestsPerMinute: 1000 },
      budgets: TEST_BUDGETS,
      usersNamespace: TEST_NAMESPACE,
      administrators: ['root@example.com'],
      shell: { isEnabled: false, allowsForks: false, idleMs: 60_000 },
      trustedProxies: 0,
      trustedProxyCidrs: [],
      ...config,
    },
    clusterReads: { list: () => Promise.resolve({ items: [], resourceVersion: '1' }) },
    podStreams: {
      exec: () => Promise.reject(new Error('the test has no pods')),
      portForward: () => Promise.reject(new Error('the test has no pods')),
    },
    sessions: redis,
    written: redis,
    replays: redis,
    writeBudget: redis,
    accessCodes: redis,
    accessKeys: () => testKeys,
    snapshots: redis,
    // Threads start slowly on a busy machine.
    checkerTimes: { deadlineMs: 60_000, queueDeadlineMs: 60_000 },
    limitStores: () => new MemoryStore(),
    passwords: weakPasswords,
    logReader,
    runtimeLogs: new FakeRuntimeLogs(logReader),
    webSockets: new WebSockets(),
    now: Date.now,
    randomBytes,
    registry: new Registry(),
    logger: silentLogger,
    auditLog: silentLogger,
    ...given,
  };
}
