import { z } from 'zod';
import { metricsTokenField } from '../process/metrics-token.ts';
import type { RedisAddress } from '../process/redis-connection.ts';
import { readVariables } from '../process/variables.ts';
import { Environments } from './network/environments.ts';
import type { RunLimits } from './runs/run-queue.ts';
import type { Keep } from './runs/run-store.ts';

export interface Config {
  /** Port of the tester's interface. */
  port: number;
  /** Port of /healthz, /readyz and /metrics. */
  healthPort: number;
  /** Token that /metrics requires, if any. */
  metricsToken?: string | undefined;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  environments: Environments;
  redis: RedisAddress;
  /** File with the token that callers send. */
  tokenFile: string;
  /** URL of the process that runs browsers. */
  browserUrl: string;
  /** Maximum duration of a run, in milliseconds. */
  deadlineMs: number;
  /** How long a finished run and its results are kept, and the maximum size of all of them in Redis. */
  keep: Keep;
  limits: RunLimits;
}

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(1).max(100_000);

const environmentSchema = z.object({
  PORT: port.default(3000),
  HEALTH_PORT: port.default(3001),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  ENVIRONMENTS_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' }),
  REDIS_PASSWORD: z.string().optional(),
  METRICS_TOKEN: metricsTokenField,
  TESTER_TOKEN_FILE: z.string(),
  BROWSER_URL: z.url({ protocol: /^http$/ }).default('http://127.0.0.1:3002'),
  DEADLINE_SECONDS: count.default(60),
  KEEP_DAYS: count.default(7),
  KEEP_MIB: count.default(64),
  RUNS: count.default(3),
  RUNS_PER_GROUP: count.default(2),
  QUEUE: count.default(1000),
  QUEUE_PER_GROUP: count.default(250),
});

/**
 * Parses the configuration from environment variables; an empty one counts as absent.
 * @throws Error that names each missing or invalid variable, never its value.
 */
export function parseConfig(variables: Record<string, string | undefined>): Config {
  const data = readVariables(environmentSchema, variables);
  return {
    port: data.PORT,
    healthPort: data.HEALTH_PORT,
    logLevel: data.LOG_LEVEL,
    metricsToken: data.METRICS_TOKEN,
    environments: new Environments(data.ENVIRONMENTS_URL),
    redis: { url: data.REDIS_URL, password: data.REDIS_PASSWORD },
    tokenFile: data.TESTER_TOKEN_FILE,
    browserUrl: data.BROWSER_URL,
    deadlineMs: data.DEADLINE_SECONDS * 1000,
    keep: { ms: data.KEEP_DAYS * 24 * 3_600_000, bytes: data.KEEP_MIB * 1024 * 1024 },
    limits: {
      atWork: { total: data.RUNS, perGroup: data.RUNS_PER_GROUP },
      waiting: { total: data.QUEUE, perGroup: data.QUEUE_PER_GROUP },
    },
  };
}
