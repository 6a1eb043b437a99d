import { z } from 'zod';
import { metricsTokenField } from '../process/metrics-token.ts';
import { readVariables } from '../process/variables.ts';
import { CONTROL_PORT, VISITORS_PORT } from '../waker-protocol/messages.ts';

const port = z.coerce.number().int().min(0).max(65535);

const schema = z.object({
  PORT: port.default(VISITORS_PORT),
  CONTROL_PORT: port.default(CONTROL_PORT),
  HEALTH_PORT: port.default(3001),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** File with the key that the operator shares. */
  KEY_FILE: z.string().default('/etc/coppice-waker/key'),
  /** Requests that wait for services at once: in total, and for one environment. */
  MAX_HELD: z.coerce.number().int().min(1).default(1000),
  MAX_HELD_PER_ENVIRONMENT: z.coerce.number().int().min(1).default(200),
  /** How long a request waits for services, in seconds. */
  HOLD_SECONDS: z.coerce.number().int().min(1).default(120),
  METRICS_TOKEN: metricsTokenField,
});
export type WakerConfig = z.infer<typeof schema>;

/** Parses the configuration. Throws an Error that names each missing or invalid variable, never its value. */
export function readConfig(environment: NodeJS.ProcessEnv): WakerConfig {
  return readVariables(schema, environment);
}
