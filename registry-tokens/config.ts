import { z } from 'zod';
import { metricsTokenField } from '../process/metrics-token.ts';
import { readVariables } from '../process/variables.ts';

const port = z.coerce.number().int().min(0).max(65535);

const schema = z.object({
  PORT: port.default(3000),
  HEALTH_PORT: port.default(3001),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** Where clients request tokens; `auth.token.realm` in the registry's configuration. */
  TOKEN_URL: z.url({ protocol: /^https?$/ }).transform((text) => new URL(text)),
  /** `auth.token.service` in the registry's configuration. */
  SERVICE: z.string().min(1),
  /** Prefixes of image names that every credential can pull, separated by spaces. */
  SHARED_PREFIXES: z
    .string()
    .default('')
    .transform((text) => text.split(' ').filter(Boolean))
    .pipe(z.array(z.string().regex(/^[a-z0-9][a-z0-9._/-]*\/$/, 'must end with a slash'))),
  KEYS_FOLDER: z.string().default('/etc/coppice-registry-keys'),
  AUTHORITY_FOLDER: z.string().default('/etc/coppice-registry-authority'),
  /**
   * Folder with the files `username` and `password` of an account that is granted everything; absent if there is none.
   */
  ADMINISTRATOR_FOLDER: z.string().min(1).optional(),
  METRICS_TOKEN: metricsTokenField,
});
export type TokenServerConfig = z.infer<typeof schema>;

/** Parses the configuration. Throws an Error that names each missing or invalid variable, never its value. */
export function readConfig(environment: NodeJS.ProcessEnv): TokenServerConfig {
  return readVariables(schema, environment);
}
