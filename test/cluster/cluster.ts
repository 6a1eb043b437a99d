import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageSource } from './images/app-image.ts';
import { storeBaseImages } from './images/base-images.ts';
import { answerLocalhostNames } from './network/cluster-dns.ts';
import { findCommandLineTools } from './machine/command-line-tools.ts';
import { dockerHubMirrors } from './images/docker.ts';
import { ensureDockerEngine } from './machine/docker-engine.ts';
import { exclusively } from './exclusively.ts';
import { isIpv6Only, forwardIpv4 } from './network/ipv6-only.ts';
import {
  ensureKindCluster,
  hasNode,
  INGRESS_PORT,
  type NewCluster,
  NODE_CONTAINER,
  requireSameNodes,
  waitForNodes,
  workingNodes,
} from './kind-cluster.ts';
import { apply, kubectlWith, rollout } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { planNodeImage, provideNodeImage, storeNodeImage } from './images/node-image.ts';
import { NodeLoader } from './images/node-loader.ts';
import { mirrorImages } from './images/mirror.ts';
import { firstImages, prefetchImages } from './images/prefetch-images.ts';
import { configureNodeRegistry } from './registries/configure-nodes.ts';
import { KUBECONFIG_FILE } from '../support/paths.ts';
import { checkMachine, checkPorts } from './machine/prerequisites.ts';
import type { Progress } from '../support/progress.ts';
import { connectRegistries } from './registries/registry-containers.ts';
import type { Cluster } from './running-cluster.ts';
import { startRegistries } from './registries/start-registries.ts';
import { traefikDefinitions } from './network/traefik-definitions.ts';
import { VERSIONS } from './versions.ts';
import { startLocalBuild } from './images/local-build.ts';
import { useExistingCluster } from './existing-cluster.ts';
import type { ExistingClusterOptions } from './existing-cluster.ts';

export interface ClusterOptions extends NewCluster {
  existing?: ExistingClusterOptions;
  /** Images of this repository: those that cannot be pulled are built, and pushed while a new cluster starts. */
  images?: readonly ImageSource[];
}

/** Starts the local kind cluster, or connects to the existing cluster that the options name. */
export async function bringUpCluster(
  progress: Progress,
  { existing, images = [], ...newCluster }: ClusterOptions,
): Promise<Cluster> {
  return exclusively(progress, () =>
    existing ? useExistingCluster(existing, progress) : bringUpKindCluster(newCluster, images, progress),
  );
}

/** Returns a function that calls `create` once, and returns the same value from then on. */
function once<T>(create: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => (value ??= create());
}

/** Keeps a promise that later steps await from ending the process if it is rejected earlier. */
function reportedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/**
 * Starts the local kind cluster with everything that it needs: Docker Engine, node image, registry, base images,
 * Ingress controller and names. Each step skips what exists already, so a second run takes seconds.
 */
async function bringUpKindCluster(
  newCluster: NewCluster,
  sources: readonly ImageSource[],
  progress: Progress,
): Promise<Cluster> {
  const official = newCluster.nodeImage ?? VERSIONS.pulledNodeImage;
  await progress.step('check this machine', checkMachine);
  await progress.step('Docker Engine', ensureDockerEngine);
  await checkPorts();
  const plan = once(() => planNodeImage(official));
  const nodeImage = once(async () => provideNodeImage(await plan(), progress));
  const isNew = !(await hasNode());
  // What cannot be done is refused before minutes of building.
  if (!isNew) await requireSameNodes(newCluster);
  // An existing cluster needs no node image; what else is missing is built when it is needed.
  const build = await startLocalBuild(isNew ? await plan() : undefined, { images: sources }, progress);
  const tools = await findCommandLineTools(progress);
  const kubectl = kubectlWith(tools.kubectl);
  const registries = async (isMirror: () => Promise<boolean>) => {
    await Promise.all([build.programs, build.images]);
    const installed = isNew ? undefined : kubectl;
    const first = firstImages(newCluster.nodes ?? 1);
    return startRegistries({ installed, isMirror, sources, firstImages: first }, progress);
  };

  // Beside a new cluster, the registries start and receive images. An existing one has the registry's password.
  const early = isNew ? reportedLater(registries(async () => (await plan()).isBuiltLocally)) : undefined;
  const failing = new AbortController();
  const prefetched = early ? prefetchImages(early, nodeImage, progress, failing.signal) : () => Promise.resolve(false);
  const node = await ensureKindCluster(newCluster, nodeImage, tools, progress).catch((error: unknown) => {
    failing.abort();
    throw error;
  });
  const isMirror = node.isBuiltLocally;
  // Coppice's installation waits for these objects, so they come before everything else.
  const firstObjects = reportedLater(applyFirstObjects(kubectl));
  const { registry, parts } = await (early ?? registries(() => Promise.resolve(isMirror)));
  await connectRegistries();
  // The node and builders do not read Docker's configuration, so they get its mirrors.
  const hubMirrors = isMirror ? [] : await dockerHubMirrors();
  const configured = reportedLater(configureNodeRegistry(registry, isMirror, hubMirrors));
  const loader = new NodeLoader({ registry, isMirror, prefetched, configured }, progress);
  const working = await workingNodes();
  const startIngress = async () => {
    await Promise.all([loader.load('traefik', [NODE_CONTAINER]), firstObjects]);
    await Promise.all([startIngressController(kubectl, progress), loader.load('buildkit', working)]);
  };
  const started = Promise.all([
    waitForNodes(tools, 120),
    startIngress(),
    ...parts.map((part) => loader.loadPart(part)),
    progress.step('names *.localhost in the cluster', () => answerLocalhostNames(kubectl, working.length)),
  ]);
  const ready = reportedLater(started.then(() => undefined));
  await configured;
  // While images are built, deployments would exceed their deadlines for lack of CPU time.
  if (build.isNeeded) await ready;
  return {
    hubMirrors,
    kubeconfig: KUBECONFIG_FILE,
    kubectl,
    tools,
    registry,
    isMirror,
    ingressUrl: `http://127.0.0.1:${INGRESS_PORT}`,
    isKind: true,
    isNew,
    nodes: working.length,
    ready,
  };
}

const readManifest = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** Creates what kubelets need, and what Coppice's chart looks for, before the Ingress controller runs. */
async function applyFirstObjects(kubectl: Kubectl): Promise<void> {
  const objects = [
    readManifest('node-permissions.yaml'),
    readManifest('network/traefik-service.yaml'),
    traefikDefinitions(),
  ];
  await apply(kubectl, objects.join('---\n'));
  if (await isIpv6Only(kubectl)) await forwardIpv4(kubectl);
}

async function startIngressController(kubectl: Kubectl, progress: Progress): Promise<void> {
  await progress.step('Ingress controller', async () => {
    await apply(kubectl, readManifest('network/traefik.yaml'));
    await rollout(kubectl, 'traefik', 'traefik');
  });
}

/**
 * Completes the local images that the sample does not need: pushes those that other builds use to the mirror, and
 * stores those that the next cluster starts from.
 */
export async function completeImages({ registry, isMirror }: Cluster, progress: Progress): Promise<void> {
  if (!isMirror) return;
  await mirrorImages(['busybox', 'debian'], registry, progress);
  await storeBaseImages(['registry'], progress);
  await storeNodeImage(progress);
}
