import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import { buildImage, deliverImage } from './app-image.ts';
import type { Cluster } from './cluster.ts';
import { apply } from './kubectl.ts';
import { localFolder, repositoryRoot } from './paths.ts';
import type { Progress } from './progress.ts';
import { recipeHash } from './recipe.ts';
import { run, tryRun } from './run.ts';
import { images } from './versions.ts';
import { waitFor } from './wait-for.ts';

const namespace = 'coppice-system';
const release = 'coppice';
const chart = join(repositoryRoot, 'charts/coppice');
export const apiUrl = 'http://coppice.localhost:8080';

/** Installs Coppice from this checkout with Helm, or upgrades it; the same checkout again changes nothing. */
export async function installCoppice(cluster: Cluster, progress: Progress): Promise<void> {
  const image = await deliverImage(
    await buildImage('coppice', repositoryRoot, join(repositoryRoot, 'Dockerfile'), progress),
    cluster,
    progress,
  );
  const values = stringify(chartValues(cluster, image, await gitServerNetworks(cluster)));
  const version = createHash('sha256')
    .update(values)
    .update(recipeHash([chart], []))
    .digest('hex')
    .slice(0, 16);
  if ((await installedVersion(cluster)) === version) return;
  await progress.step('install Coppice', async (detail) => {
    await apply(cluster.kubectl, systemObjects(cluster));
    mkdirSync(localFolder, { recursive: true });
    const valuesFile = join(localFolder, 'values.yaml');
    writeFileSync(valuesFile, values, { mode: 0o600 });
    const options = ['--namespace', namespace, '--values', valuesFile, '--description', version];
    const wait = ['--wait', '--timeout', '180s'];
    await run(
      cluster.tools.helm,
      ['--kubeconfig', cluster.kubeconfig, 'upgrade', '--install', release, chart, ...options, ...wait],
      { detail, deadline: 240 },
    );
    await waitFor(`${apiUrl} to answer`, 60, async () =>
      (await send(`${apiUrl}/api/user/info`)).status === 400 ? true : undefined,
    );
  });
}

const historySchema = z.array(z.looseObject({ status: z.string(), description: z.string() }));

/** What the last release was installed as; undefined when there is none, or it failed. */
async function installedVersion(cluster: Cluster): Promise<string | undefined> {
  const arguments_ = ['--kubeconfig', cluster.kubeconfig, '--namespace', namespace];
  const text = await tryRun(cluster.tools.helm, [...arguments_, 'history', release, '--max', '1', '--output', 'json']);
  if (text === undefined) return undefined;
  const last = historySchema.parse(JSON.parse(text)).at(-1);
  return last?.status === 'deployed' ? last.description : undefined;
}

function systemObjects({ registry }: Cluster): string {
  const objects = [
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
  return objects.map((object) => stringify(object)).join('---\n');
}

/** The private networks that the sample's Git server is in: the Ingress controller's Service, where we know that. */
async function gitServerNetworks({ kubectl, isKind }: Cluster): Promise<string[]> {
  if (!isKind) return ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];
  const address = ['--namespace', 'traefik', 'get', 'service', 'traefik', '--output', 'jsonpath={.spec.clusterIP}'];
  return [`${await kubectl(address)}/32`];
}

function chartValues({ registry, isMirror }: Cluster, image: string, allowedCidrs: string[]): object {
  const colon = image.lastIndexOf(':');
  return {
    image: { repository: image.slice(0, colon), tag: image.slice(colon + 1) },
    api: {
      url: apiUrl,
      registration: { mode: 'open', provesAddress: true },
      loginsPerMinute: 600,
      requestsPerMinute: 100_000,
    },
    environments: { url: 'http://env.localhost:8080', rolloutDeadlineSeconds: 45 },
    ingress: { controllerNamespace: 'traefik' },
    sources: { allowedCidrs, ports: [80, 443, 8080], timeoutSeconds: 10, deadlineSeconds: 15 },
    registry: {
      address: registry.address,
      insecure: registry.insecure,
      credentialsSecret: 'registry-credentials',
      // Another checkout gives the registry another password.
      credentialsRevision: createHash('sha256').update(registry.password).digest('hex').slice(0, 16),
    },
    builder: {
      image: images.buildkit,
      cacheSize: '10Gi',
      privateEgress: ['172.16.0.0/12'],
      ...(isMirror && { mirrors: { 'docker.io': [`${registry.address}/docker.io`] } }),
    },
    redis: { image: images.redis },
  };
}
