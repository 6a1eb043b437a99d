import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { images } from './versions.ts';
import { localFolder } from './paths.ts';
import type { Detail } from './progress.ts';
import { run, tryRun } from './run.ts';
import { waitFor } from './wait-for.ts';

export const registryContainer = 'kind-registry';
const registryVolume = 'coppice-registry';
const registryFile = join(localFolder, 'registry.json');

const registrySchema = z.object({
  /** What pods and the node call it: host:port. */
  address: z.string(),
  /** What this machine calls it. */
  hostAddress: z.string(),
  username: z.string(),
  password: z.string(),
  /** Plain http, without TLS. */
  insecure: z.boolean(),
});
export type Registry = z.infer<typeof registrySchema>;

/** The registry of the cluster that is up, from .local/registry.json; undefined before there is one. */
function readRegistry(): Registry | undefined {
  if (!existsSync(registryFile)) return undefined;
  return registrySchema.parse(JSON.parse(readFileSync(registryFile, 'utf8')));
}

export function writeRegistry(registry: Registry): void {
  mkdirSync(localFolder, { recursive: true });
  writeFileSync(registryFile, JSON.stringify(registry, null, 2), { mode: 0o600 });
  chmodSync(registryFile, 0o600);
}

/** The value of an Authorization header for it. */
export function basicAuthorization(registry: Registry): string {
  return `Basic ${Buffer.from(`${registry.username}:${registry.password}`).toString('base64')}`;
}

function localRegistry(): Registry {
  const registry = readRegistry() ?? {
    address: `${registryContainer}:5000`,
    hostAddress: '127.0.0.1:5001',
    username: 'coppice',
    password: randomBytes(24).toString('base64url'),
    insecure: true,
  };
  writeRegistry(registry);
  return registry;
}

const configuration = `version: 0.1
log: {level: warn, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: /var/lib/registry}, delete: {enabled: true}}
http: {addr: ":5000"}
auth: {htpasswd: {realm: coppice, path: /etc/distribution/htpasswd}}
`;

/** Starts the registry as a container with its data on a volume, published on 127.0.0.1:5001, and waits until it answers. */
export async function ensureRegistry(detail: Detail): Promise<Registry> {
  const registry = localRegistry();
  if (await registryAnswers(registry)) return registry;
  const state = await tryRun('docker', ['inspect', '--format', '{{.State.Running}}', registryContainer]);
  if (state !== undefined && state.trim() !== 'true') {
    await run('docker', ['start', registryContainer]);
  } else {
    // None, or one with another password: .local was removed. The images on the volume stay.
    if (state !== undefined) await run('docker', ['rm', '--force', registryContainer]);
    await createRegistry(registry, detail);
  }
  await waitFor('the registry', 30, async () => ((await registryAnswers(registry)) ? true : undefined));
  return registry;
}

async function createRegistry(registry: Registry, detail: Detail): Promise<void> {
  detail('creating the container');
  const options = ['--restart', 'unless-stopped', '--publish', `${registry.hostAddress}:5000`];
  const labels = ['--label', 'dev.coppice.cluster=coppice'];
  const storage = ['--volume', `${registryVolume}:/var/lib/registry`];
  await run('docker', ['create', '--name', registryContainer, ...options, ...labels, ...storage, images.registry]);
  const files = { 'config.yml': configuration, htpasswd: `${registry.username}:${await bcrypt(registry.password)}\n` };
  // The files go in as a tar archive, since the engine need not share this machine's file system.
  const folder = join(localFolder, 'registry');
  mkdirSync(join(folder, 'distribution'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, 'distribution', name), text, { mode: 0o600 });
  }
  await run('docker', ['cp', join(folder, 'distribution'), `${registryContainer}:/etc/`]);
  await run('docker', ['start', registryContainer]);
}

/** A bcrypt hash, the only one that the registry takes; libcrypt of the Debian image makes it. */
async function bcrypt(password: string): Promise<string> {
  const salt = randomBytes(16).toString('hex').slice(0, 22);
  const script = `chomp(my $password = <STDIN>); print crypt($password, '$2b$10$${salt}')`;
  const args = ['run', '--rm', '-i', '--network', 'none', images.debian, 'perl', '-e', script];
  return run('docker', args, { input: `${password}\n` });
}

async function registryAnswers(registry: Registry): Promise<boolean> {
  try {
    const answer = await fetch(`http://${registry.hostAddress}/v2/`, {
      headers: { authorization: basicAuthorization(registry) },
      signal: AbortSignal.timeout(3000),
    });
    return answer.ok;
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException) return false; // refused, or too late
    throw error;
  }
}

/** Lets the cluster's node and pods reach the registry's container by its name. */
export async function connectRegistry(): Promise<void> {
  const format = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}';
  const networks = await run('docker', ['inspect', '--format', format, registryContainer]);
  if (!networks.split(' ').includes('kind')) await run('docker', ['network', 'connect', 'kind', registryContainer]);
}

export async function removeRegistry(): Promise<void> {
  await tryRun('docker', ['rm', '--force', '--volumes', registryContainer]);
  await tryRun('docker', ['volume', 'rm', registryVolume]);
}
