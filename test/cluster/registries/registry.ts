import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureBaseImages } from '../images/base-images.ts';
import { IMAGES } from '../versions.ts';
import type { Kubectl } from '../kubectl.ts';
import { LOCAL_FOLDER } from '../../support/paths.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { RECIPE_LABEL, recipeHash } from '../recipe.ts';
import { messageOf, Problem } from '../../support/problem.ts';
import { run, tryRun } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';

export const REGISTRY_CONTAINER = 'kind-registry';
export const REGISTRY_VOLUME = 'coppice-registry';
/** Container that serves built images from the same volume, with token authentication (image-registry.ts). */
export const IMAGES_CONTAINER = 'kind-images';
export const IMAGES_ADDRESS = `${IMAGES_CONTAINER}:5000`;
export const IMAGES_PORT = 5002;
export const IMAGES_HOST_ADDRESS = `127.0.0.1:${IMAGES_PORT}`;
export const REGISTRY_PORT = 5001;
/** Address of the local registry for this machine. */
export const REGISTRY_HOST_ADDRESS = `127.0.0.1:${REGISTRY_PORT}`;
const registryFile = join(LOCAL_FOLDER, 'registry.json');

const registrySchema = z.object({
  /** Address of built images for Coppice, builds and the kubelet: host:port. */
  address: z.string(),
  /**
   * Address from which the node pulls images that are needed before Coppice runs, with this account; `address` if
   * absent.
   */
  nodeAddress: z.string().optional(),
  /** Address of the registry as this machine reaches it. */
  hostAddress: z.string(),
  username: z.string(),
  password: z.string(),
  /** Whether it uses plain HTTP. */
  insecure: z.boolean(),
});
export type Registry = z.infer<typeof registrySchema>;

/** Returns the registry of the running cluster from .local/registry.json; undefined if there is none. */
export function readRegistry(): Registry | undefined {
  if (!existsSync(registryFile)) return undefined;
  return registrySchema.parse(JSON.parse(readFileSync(registryFile, 'utf8')));
}

export function writeRegistry(registry: Registry): void {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  writeFileSync(registryFile, JSON.stringify(registry, null, 2), { mode: 0o600 });
  chmodSync(registryFile, 0o600);
}

/** Returns the value of its Authorization header. */
export function basicAuthorization(registry: Registry): string {
  return `Basic ${Buffer.from(`${registry.username}:${registry.password}`).toString('base64')}`;
}

function localRegistry(password: string): Registry {
  const nodeAddress = `${REGISTRY_CONTAINER}:5000`;
  return {
    address: IMAGES_ADDRESS,
    nodeAddress,
    hostAddress: REGISTRY_HOST_ADDRESS,
    username: 'coppice',
    password,
    insecure: true,
  };
}

/**
 * Returns the password with which Coppice was installed, possibly by another checkout; undefined if it is not
 * installed.
 */
export async function installedPassword(kubectl: Kubectl): Promise<string | undefined> {
  const location = ['--namespace', 'coppice-system', 'get', 'secret', 'registry-credentials', '--ignore-not-found'];
  const encoded = await kubectl([...location, '--output', 'jsonpath={.data.password}']);
  return encoded === '' ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

const configuration = `version: 0.1
log: {level: warn, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: /var/lib/registry}, delete: {enabled: true}}
http: {addr: ":5000"}
auth: {htpasswd: {realm: coppice, path: /etc/distribution/htpasswd}}
`;
/** bcrypt's minimum cost, because every request computes the hash, and the password is long and random. */
const bcryptCost = '04';
const recipe = recipeHash([], [configuration, bcryptCost]);

/**
 * Starts the registry as a container with its data on a volume, published on 127.0.0.1:5001, and waits until it
 * responds. An existing one keeps its password, which this checkout or the cluster has.
 */
export async function ensureRegistry(
  installed: () => Promise<string | undefined>,
  progress: Progress,
  detail: Detail,
): Promise<Registry> {
  const known = [readRegistry()?.password, await installed()].filter((one) => one !== undefined);
  if ((await containerState()) !== undefined) {
    const registry = await existingRegistry(known, detail);
    if (registry) {
      writeRegistry(registry);
      return registry;
    }
    // The images on the volume are kept.
    await run('docker', ['rm', '--force', REGISTRY_CONTAINER]);
  }
  const registry = localRegistry(known.at(0) ?? randomBytes(24).toString('base64url'));
  writeRegistry(registry);
  await createRegistry(registry, progress, detail);
  try {
    await waitFor('the registry', 120, async () => (await statusOf(registry)) === 200 || undefined);
  } catch (error) {
    throw await withDiagnosis(error, REGISTRY_CONTAINER);
  }
  return registry;
}

/** Returns the existing registry; undefined if its recipe differs, it does not respond, or its password is unknown. */
async function existingRegistry(passwords: string[], detail: Detail): Promise<Registry | undefined> {
  if ((await inspect(`{{index .Config.Labels "${RECIPE_LABEL}"}}`)) !== recipe) return undefined;
  if ((await containerState()) !== 'running') await tryRun('docker', ['start', REGISTRY_CONTAINER]);
  try {
    await waitFor('the registry', 60, async () => (await statusOf(localRegistry(''))) !== undefined || undefined);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    detail(`it does not respond, and is created again: ${await diagnose(REGISTRY_CONTAINER)}`);
    return undefined;
  }
  for (const registry of passwords.map(localRegistry)) {
    if ((await statusOf(registry)) === 200) return registry;
  }
  return undefined;
}

function containerState(): Promise<string | undefined> {
  return inspect('{{.State.Status}}');
}

async function inspect(format: string): Promise<string | undefined> {
  return (await tryRun('docker', ['inspect', '--format', format, REGISTRY_CONTAINER]))?.trim();
}

/** Returns the state and last output of a container, to find out why it does not respond. */
async function diagnose(container: string): Promise<string> {
  const format = '{{json .State}} {{json .NetworkSettings.Ports}}';
  const state = await tryRun('docker', ['inspect', '--format', format, container]);
  const log = await tryRun('sh', ['-c', 'docker logs --tail 5 "$1" 2>&1', 'sh', container]);
  return [state?.trim(), log].filter((part) => part !== undefined).join('\n');
}

/** Returns the Problem that a container does not respond, with its state and last output. */
export async function withDiagnosis(error: unknown, container: string): Promise<Problem> {
  return new Problem(`${messageOf(error)}\n${await diagnose(container)}`, { cause: error });
}

async function createRegistry(registry: Registry, progress: Progress, detail: Detail): Promise<void> {
  detail('creating the container');
  const options = ['--restart', 'unless-stopped', '--publish', `${registry.hostAddress}:5000`];
  const withoutTraces = ['--env', 'OTEL_TRACES_EXPORTER=none'];
  const labels = ['--label', 'dev.coppice.cluster=coppice', '--label', `${RECIPE_LABEL}=${recipe}`];
  const storage = ['--volume', `${REGISTRY_VOLUME}:/var/lib/registry`];
  await run('docker', [
    'create',
    '--name',
    REGISTRY_CONTAINER,
    ...options,
    ...withoutTraces,
    ...labels,
    ...storage,
    IMAGES.registry,
  ]);
  const hash = await bcrypt(registry.password, progress);
  const files = { 'config.yml': configuration, htpasswd: `${registry.username}:${hash}\n` };
  // The files are copied as a tar archive, because the engine may have another file system.
  const folder = join(LOCAL_FOLDER, 'registry');
  mkdirSync(join(folder, 'distribution'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, 'distribution', name), text, { mode: 0o600 });
  }
  await run('docker', ['cp', join(folder, 'distribution'), `${REGISTRY_CONTAINER}:/etc/`]);
  await run('docker', ['start', REGISTRY_CONTAINER]);
}

/**
 * Returns a bcrypt hash, the only kind that the registry accepts. Perl calls libcrypt: this machine's if it supports
 * bcrypt, as on Debian, otherwise that of the Debian image.
 */
async function bcrypt(password: string, progress: Progress): Promise<string> {
  const salt = randomBytes(16).toString('hex').slice(0, 22);
  const settings = `$2b$${bcryptCost}$${salt}`;
  const script = `chomp(my $password = <STDIN>); print crypt($password, '${settings}')`;
  const input = `${password}\n`;
  const hash = await tryRun('perl', ['-e', script], { input });
  if (hash?.startsWith(settings.slice(0, -1)) === true) return hash;
  await ensureBaseImages(['debian'], progress);
  return run('docker', ['run', '--rm', '-i', '--network', 'none', IMAGES.debian, 'perl', '-e', script], { input });
}

/** Returns the status of its response; undefined if it does not respond. */
async function statusOf(registry: Registry): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://${registry.hostAddress}/v2/`, {
      headers: { authorization: basicAuthorization(registry) },
      signal: AbortSignal.timeout(3000),
    });
    return answer.status;
  } catch (error) {
    // The connection was refused or timed out.
    if (error instanceof TypeError || error instanceof DOMException) return undefined;
    throw error;
  }
}

/** Connects the registries to the cluster's network, so that the node and pods can reach them by name. */
export async function connectRegistries(): Promise<void> {
  await Promise.all([REGISTRY_CONTAINER, IMAGES_CONTAINER].map(connectRegistry));
}

async function connectRegistry(container: string): Promise<void> {
  const format = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}';
  const networks = await run('docker', ['inspect', '--format', format, container]);
  if (networks.split(' ').includes('kind')) return;
  await run('docker', ['network', 'connect', 'kind', container]).catch(async (error: unknown) => {
    // Another step of this start may have connected it meanwhile.
    if (!(await run('docker', ['inspect', '--format', format, container])).split(' ').includes('kind')) throw error;
  });
}

/** Removes the containers of both registries, and their images. */
export async function removeRegistry(): Promise<void> {
  const filters = [REGISTRY_CONTAINER, IMAGES_CONTAINER].flatMap((name) => ['--filter', `name=^${name}$`]);
  const ids = (await run('docker', ['ps', '--all', '--quiet', ...filters])).split('\n').filter((id) => id !== '');
  if (ids.length > 0) await run('docker', ['rm', '--force', '--volumes', ...ids], { deadline: 120 });
  await run('docker', ['volume', 'rm', '--force', REGISTRY_VOLUME]);
}
