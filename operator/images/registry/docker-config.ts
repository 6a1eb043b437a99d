import { z } from 'zod';
import type { RegistryCredentials } from './session.ts';

/** Credentials by registry, the prefix of image names: `docker.io`, `ghcr.io`, `registry.example.com:5000`. */
export type RegistryAuths = ReadonlyMap<string, RegistryCredentials>;

const entrySchema = z.object({
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
});
const configSchema = z.object({ auths: z.record(z.string(), entrySchema).default({}) });

const dockerHub = 'docker.io';
/** Key of Docker Hub in Docker's configuration files. */
const dockerHubKey = 'https://index.docker.io/v1/';

/**
 * Parses a Docker client configuration, as in a Secret of type kubernetes.io/dockerconfigjson. Returns undefined if it
 * is not valid.
 */
export function readDockerConfig(text: string): RegistryAuths | undefined {
  const parsed = configSchema.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const auths = new Map<string, RegistryCredentials>();
  for (const [key, entry] of Object.entries(parsed.data.auths)) {
    const credentials = credentialsOf(entry);
    const registry = registryOf(key);
    if (credentials && registry !== '' && !auths.has(registry)) auths.set(registry, credentials);
  }
  return auths;
}

/** Merges credentials; of two entries for one registry the earlier one takes precedence. */
export function mergeAuths(all: readonly RegistryAuths[]): RegistryAuths {
  return new Map([...all].reverse().flatMap((auths) => [...auths]));
}

export function writeDockerConfig(auths: RegistryAuths): string {
  const entries = [...auths]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([registry, { username, password }]) => {
      const auth = Buffer.from(`${username}:${password}`).toString('base64');
      return [registry === dockerHub ? dockerHubKey : registry, { auth }] as const;
    });
  return JSON.stringify({ auths: Object.fromEntries(entries) });
}

/**
 * Returns the registry of a key, which is a host or a URL of version 1 or 2 of the protocol. An entry always applies to
 * the whole host.
 */
function registryOf(key: string): string {
  const host = key
    .replace(/^https?:\/\//, '')
    .split('/')[0]
    ?.toLowerCase();
  return host === 'index.docker.io' || host === 'registry-1.docker.io' ? dockerHub : (host ?? '');
}

function credentialsOf({ auth, username, password }: z.infer<typeof entrySchema>): RegistryCredentials | undefined {
  if (username !== undefined && password !== undefined) return { username, password };
  const plain = Buffer.from(auth ?? '', 'base64').toString('utf8');
  const colon = plain.indexOf(':');
  return colon < 0 ? undefined : { username: plain.slice(0, colon), password: plain.slice(colon + 1) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
