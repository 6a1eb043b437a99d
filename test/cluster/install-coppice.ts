import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { newKey } from '../../registry-tokens/credential-keys.ts';
import { currentImage, deliverImage, hasCurrentImage, type ImageSource } from './images/app-image.ts';
import { API_URL, chartValues } from './chart-values.ts';
import type { Cluster } from './running-cluster.ts';
import { AUTHORITY_SECRET_NAME, readAuthority } from './registries/token-registry.ts';
import { waitForAnswer } from './network/ingress.ts';
import { apply, rollout, type Kubectl } from './kubectl.ts';
import { LOCAL_FOLDER, REPOSITORY_ROOT } from '../support/paths.ts';
import { messageOf, Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import { isIpv6Only } from './network/ipv6-only.ts';
import { registryNetworks } from './registries/registry-networks.ts';
import { MIDDLEWARE_DEFINITION } from './network/traefik-definitions.ts';
import { recipeHash } from './recipe.ts';
import { run } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';

const namespace = 'coppice-system';
const release = 'coppice';
const chart = join(REPOSITORY_ROOT, 'charts/coppice');
/** The image of the operator and the API. */
export const IMAGE_SOURCE: ImageSource = {
  name: 'coppice',
  context: REPOSITORY_ROOT,
  dockerfile: join(REPOSITORY_ROOT, 'Dockerfile'),
};

/** The image of the tester, which has a browser. */
export const TESTER_SOURCE: ImageSource = {
  name: 'coppice-tester',
  context: REPOSITORY_ROOT,
  dockerfile: join(REPOSITORY_ROOT, 'tester/Dockerfile'),
};

export interface InstallOptions {
  /**
   * `current` builds the tester's image from this checkout. `installed` keeps an installed tester; without one, Coppice
   * runs no tests of environments.
   */
  tester: 'current' | 'installed';
  /** Whether the cluster has nothing installed, so that no release, tester or Gitea is looked for. */
  isFirst?: boolean;
}

/**
 * Returns whether the cluster has a tester, and the tester's image of this checkout is built: one upgrade is then
 * enough.
 */
export async function canUpgradeTester({ kubectl }: Cluster): Promise<boolean> {
  return (await installedTesterImage(kubectl)) !== undefined && (await hasCurrentImage(TESTER_SOURCE));
}

/**
 * Installs or upgrades Coppice from this checkout with Helm, and waits until its API responds. Changes nothing if this
 * checkout is installed.
 */
export async function installCoppice(cluster: Cluster, progress: Progress, options: InstallOptions): Promise<void> {
  const deployments = await upgradeRelease(cluster, progress, options);
  // Checked even if nothing changed: in a restarted node, Coppice starts together with everything else.
  await progress.step('Coppice answers', async () => {
    const redis = ['--namespace', namespace, 'rollout', 'status', 'statefulset/coppice-redis', '--timeout=300s'];
    await Promise.all([
      ...deployments.map((name) => rollout(cluster.kubectl, namespace, name)),
      // Requests are answered with 503 while an upgrade restarts it.
      cluster.kubectl(redis, { deadline: 310 }),
    ]);
    await waitForAnswer(cluster, new URL(API_URL).host, '/api/openapi.json');
  });
}

/**
 * Waits until the token server responds, without which the registry of built images accepts nobody. It needs the keys
 * that the operator creates, so it starts last.
 */
export async function waitForTokenServer({ kubectl, isKind }: Cluster): Promise<void> {
  if (isKind) await rollout(kubectl, namespace, 'coppice-registry-tokens');
}

/**
 * Throws a Problem if the cluster's operator and API do not run this checkout's image. Does not compare the chart and
 * values.
 */
export async function requireThisImage(kubectl: Kubectl): Promise<void> {
  const image = await currentImage(IMAGE_SOURCE);
  const tag = image.slice(image.lastIndexOf(':'));
  const format = 'jsonpath={range .items[*]}{.spec.template.spec.containers[0].image}{"\\n"}{end}';
  const args = [
    '--namespace',
    namespace,
    'get',
    'deployments',
    'coppice-operator',
    'coppice-api',
    '--ignore-not-found',
  ];
  const running = (await kubectl([...args, '--output', format])).split('\n').filter((line) => line !== '');
  if (running.length === 2 && running.every((one) => one.endsWith(tag))) return;
  const reported = running.length === 0 ? 'no Coppice' : [...new Set(running)].join(' and ');
  throw new Problem(`The cluster runs ${reported}, and not this checkout (${image}): \`npm run up\` installs it.`);
}

/** Returns the image of the installed tester; undefined if there is none. */
async function installedTesterImage(kubectl: Kubectl): Promise<string | undefined> {
  const flags = ['--ignore-not-found', '--output', 'jsonpath={.spec.template.spec.containers[0].image}'];
  const image = await kubectl(['--namespace', namespace, 'get', 'deployment', 'coppice-tester', ...flags]);
  return image === '' ? undefined : image;
}

/** Installs or upgrades the release where it differs from this checkout. Returns the names of its Deployments. */
async function upgradeRelease(
  cluster: Cluster,
  progress: Progress,
  { tester, isFirst = false }: InstallOptions,
): Promise<readonly string[]> {
  const deliver = (source: ImageSource) => deliverImage(source, cluster, progress);
  const image = await deliver(IMAGE_SOURCE);
  const installed = async () => (isFirst ? undefined : installedTesterImage(cluster.kubectl));
  const testerImage = tester === 'current' ? await deliver(TESTER_SOURCE) : await installed();
  const deployments = ['coppice-operator', 'coppice-api', ...(testerImage === undefined ? [] : ['coppice-tester'])];
  const [networks, builderNetworks, hasIpv6Only, last] = await Promise.all([
    gitServerNetworks(cluster, isFirst),
    registryNetworks(cluster),
    cluster.isKind && isIpv6Only(cluster.kubectl),
    isFirst ? undefined : lastRelease(cluster),
    waitForTraefikDefinitions(cluster),
    isFirst && applySystemObjects(cluster, true),
  ]);
  const values = stringify({
    ...chartValues(cluster, image, testerImage, networks, builderNetworks),
    ...(hasIpv6Only && { egress: { ipv6: true } }),
  });
  const version = createHash('sha256')
    .update(values)
    .update(recipeHash([chart], []))
    .digest('hex')
    .slice(0, 16);
  if (last?.status === 'deployed' && last.description === version) return deployments;
  await progress.step('install Coppice', async (detail) => {
    if (last?.status.startsWith('pending')) await forgetInterrupted(cluster, last.revision);
    if (!isFirst) await applySystemObjects(cluster, last === undefined);
    mkdirSync(LOCAL_FOLDER, { recursive: true });
    const valuesFile = join(LOCAL_FOLDER, 'values.yaml');
    writeFileSync(valuesFile, values, { mode: 0o600 });
    const options = ['--namespace', namespace, '--values', valuesFile, '--description', version];
    // Manual changes in this cluster are overwritten. The API server validates, so that Helm need not read all schemas.
    const how = ['--force-conflicts', '--timeout', '180s', '--disable-openapi-validation'];
    await run(
      cluster.tools.helm,
      ['--kubeconfig', cluster.kubeconfig, 'upgrade', '--install', release, chart, ...options, ...how],
      { detail, deadline: 240 },
    );
  });
  return deployments;
}

const releaseSchema = z.looseObject({ revision: z.int(), status: z.string(), description: z.string() });
type Release = z.infer<typeof releaseSchema>;

/**
 * Returns the last release, whatever its status; undefined if there is none. Its description is the version from which it
 * was installed.
 */
async function lastRelease(cluster: Cluster): Promise<Release | undefined> {
  const history = ['history', release, '--namespace', namespace, '--max', '1', '--output', 'json'];
  try {
    const text = await run(cluster.tools.helm, ['--kubeconfig', cluster.kubeconfig, ...history]);
    return z.array(releaseSchema).parse(JSON.parse(text)).at(-1);
  } catch (error) {
    if (messageOf(error).includes('release: not found')) return undefined;
    throw error;
  }
}

/**
 * Deletes the record of an interrupted upgrade, because Helm refuses upgrades while one is "in progress". Only one `up`
 * runs at a time.
 */
async function forgetInterrupted({ kubectl }: Cluster, revision: number): Promise<void> {
  await kubectl(['--namespace', namespace, 'delete', 'secret', `sh.helm.release.v1.${release}.v${revision}`]);
}

/** Applies what the chart expects in its namespace. */
async function applySystemObjects(cluster: Cluster, isNew: boolean): Promise<void> {
  await apply(cluster.kubectl, systemObjects(cluster));
  if (cluster.isKind && isNew) await createRegistryKeys(cluster.kubectl);
}

const managedLabels = { 'app.kubernetes.io/managed-by': 'coppice' };

/**
 * Creates the keys of the registry's tokens unless they exist: the operator would do it, too, but the kubelet looks for a
 * missing Secret less and less often.
 */
async function createRegistryKeys(kubectl: Kubectl): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'coppice-registry-keys', namespace, labels: managedLabels },
    data: newKey(Math.floor(Date.now() / 1000), randomBytes),
  };
  try {
    await kubectl(['create', '--validate=ignore', '--filename', '-'], { input: stringify(secret) });
  } catch (error) {
    if (!messageOf(error).includes('(AlreadyExists)')) throw error;
  }
}

function systemObjects({ registry, isKind }: Cluster): string {
  const objects: object[] = [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'registry-credentials', namespace },
      stringData: { username: registry.username, password: registry.password },
    },
  ];
  // The registry of built images was started with this authority's certificate.
  if (isKind) {
    const { certificate, key } = readAuthority();
    objects.push({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: AUTHORITY_SECRET_NAME, namespace, labels: managedLabels },
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': certificate, 'tls.key': key },
    });
  }
  return objects.map((object) => stringify(object)).join('---\n');
}

/** Waits for Traefik's kinds: without them, the chart would create no middleware, and access could not be restricted. */
async function waitForTraefikDefinitions({ kubectl, isKind }: Cluster): Promise<void> {
  if (!isKind) return;
  const args = ['wait', MIDDLEWARE_DEFINITION, '--for', 'condition=Established', '--timeout', '60s'];
  // kubectl fails at once while there is no definition.
  await waitFor("the definitions of Traefik's kinds", 120, () => kubectl(args, { deadline: 70 }));
}

/** Returns the private networks of the Git servers, if known: the Services of the Ingress controller and of Gitea. */
async function gitServerNetworks({ kubectl, isKind }: Cluster, isFirst: boolean): Promise<string[]> {
  if (!isKind) return ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];
  const addressOf = (namespace: string, service: string) => {
    const flags = ['--ignore-not-found', '--output', 'jsonpath={.spec.clusterIP}'];
    return kubectl(['--namespace', namespace, 'get', 'service', service, ...flags]);
  };
  // In a new cluster the Ingress controller is still starting.
  const ingress = await waitFor("the Ingress controller's Service", 120, async () => {
    const address = await addressOf('traefik', 'traefik');
    return address === '' ? undefined : address;
  });
  const gitea = isFirst ? '' : await addressOf('git', 'gitea-ssh');
  return [ingress, ...(gitea === '' ? [] : [gitea])].map((address) => `${address}/${address.includes(':') ? 128 : 32}`);
}
