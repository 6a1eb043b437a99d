import { randomBytes } from 'node:crypto';
import { Problem } from '../../support/problem.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { run, tryRun } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ensureBaseImages } from '../images/base-images.ts';
import type { Kubectl } from '../kubectl.ts';
import { recipeHash } from '../recipe.ts';
import { IMAGES } from '../versions.ts';
import { createContainer, diagnose, inspect, recipeOf, withDiagnosis } from './registry-containers.ts';
import {
  basicAuthorization,
  IMAGES_ADDRESS,
  readRegistry,
  type Registry,
  REGISTRY_CONTAINER,
  REGISTRY_HOST_ADDRESS,
  writeRegistry,
} from './registry.ts';

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
export async function ensurePasswordRegistry(
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
  const hash = await bcrypt(registry.password, progress);
  const files = { 'config.yml': configuration, htpasswd: `${registry.username}:${hash}\n` };
  const hostAddress = REGISTRY_HOST_ADDRESS;
  await createContainer({ name: REGISTRY_CONTAINER, hostAddress, recipe, files }, detail);
  try {
    await waitFor('the registry', 120, async () => (await statusOf(registry)) === 200 || undefined);
  } catch (error) {
    throw await withDiagnosis(error, REGISTRY_CONTAINER);
  }
  return registry;
}

/** Returns the existing registry; undefined if its recipe differs, it does not respond, or its password is unknown. */
async function existingRegistry(passwords: string[], detail: Detail): Promise<Registry | undefined> {
  if ((await recipeOf(REGISTRY_CONTAINER)) !== recipe) return undefined;
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
  return inspect(REGISTRY_CONTAINER, '{{.State.Status}}');
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
