import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parse } from 'yaml';

const quantities = z.record(z.string(), z.string());
const address = z.string().regex(/^[a-z0-9.-]+(:\d+)?$/i);

/** The operator's configuration file; the chart writes it from its values. */
const configSchema = z.strictObject({
  systemNamespace: z.string(),
  healthPort: z.int().default(3001),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  redisUrl: z.url(),
  environmentsUrl: z.url().transform((text) => new URL(text)),
  ingress: z.strictObject({ className: z.string().optional(), namespace: z.string() }),
  registry: z.strictObject({ address, insecure: z.boolean().default(false) }),
  builder: z.strictObject({
    namespace: z.string(),
    address: z.string().startsWith('tcp://'),
    cloneImage: z.string(),
    buildctlImage: z.string(),
    deadlineSeconds: z.int().min(1),
    /** A folder with ca.crt, tls.crt and tls.key. */
    certificates: z.string(),
  }),
  sources: z.strictObject({
    allowedCidrs: z.array(z.union([z.cidrv4(), z.cidrv6()])).default([]),
    ports: z.array(z.int().min(1).max(65535)).default([80, 443]),
    timeoutSeconds: z.int().min(1).default(20),
    deadlineSeconds: z.int().min(0).default(60),
  }),
  environments: z.strictObject({
    rolloutDeadlineSeconds: z.int().min(1).default(300),
    quota: quantities,
    defaultRequests: quantities,
    defaultLimits: quantities,
  }),
  memberRole: z.string(),
  workers: z.int().min(1).default(16),
});
export type OperatorConfig = z.infer<typeof configSchema>;

/** What comes from Secrets, by the environment. */
const secretsSchema = z.object({
  REDIS_PASSWORD: z.string().min(1).optional(),
  REGISTRY_USERNAME: z.string().min(1).optional(),
  REGISTRY_PASSWORD: z.string().min(1).optional(),
  POD_NAME: z.string().default('operator'),
});
export type OperatorSecrets = z.infer<typeof secretsSchema>;

/** Throws an Error that names every field that is missing or wrong, and no value. */
export async function readConfig(file: string): Promise<OperatorConfig> {
  const result = configSchema.safeParse(parse(await readFile(file, 'utf8')));
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the configuration file ${file} is not valid: ${faults.join('; ')}`);
}

export function readSecrets(environment: NodeJS.ProcessEnv): OperatorSecrets {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  return secretsSchema.parse(given);
}
