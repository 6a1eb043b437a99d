import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliverStored, type ImageSource } from './app-image.ts';
import { ensureBaseImages, type ImageName, storeBaseImages, storedImages } from './base-images.ts';
import { answerLocalhostNames } from './cluster-dns.ts';
import { findCommandLineTools } from './command-line-tools.ts';
import { dockerHubMirrors } from './docker.ts';
import { ensureDockerEngine } from './docker-engine.ts';
import { exclusively } from './exclusively.ts';
import { ensureImageRegistry } from './image-registry.ts';
import { isIpv6Only, forwardIpv4 } from './ipv6-only.ts';
import {
  ensureKindCluster,
  hasNode,
  INGRESS_PORT,
  type NewCluster,
  NODE_CONTAINER,
  waitForNodes,
  workingNodes,
} from './kind-cluster.ts';
import { apply, kubectlWith, rollout } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { planNodeImage, provideNodeImage, storeNodeImage } from './node-image.ts';
import type { NodeImage } from './node-image.ts';
import { pullIntoNode, pullPartIntoNode } from './pull-into-node.ts';
import { mirrorImages } from './mirror.ts';
import { firstImages, prefetchImages } from './prefetch-images.ts';
import { configureNodeRegistry } from './node-registry.ts';
import { KUBECONFIG_FILE } from './paths.ts';
import { checkMachine, checkPorts } from './prerequisites.ts';
import type { Progress } from './progress.ts';
import { connectRegistries, ensureRegistry, installedPassword } from './registry.ts';
import type { Cluster } from './running-cluster.ts';
import { traefikDefinitions } from './traefik-definitions.ts';
import { VERSIONS } from './versions.ts';
import { startLocalBuild } from './local-build.ts';
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

/**
 * Starts the local kind cluster with everything that it needs: Docker Engine, node image, registry, base images,
 * Ingress controller and names. Each step skips what exists already, so a second run takes seconds.
 */
async function bringUpKindCluster(
  newCluster: NewCluster,
  images: readonly ImageSource[],
  progress: Progress,
): Promise<Cluster> {
  const official = newCluster.nodeImage ?? VERSIONS.pulledNodeImage;
  await progress.step('check this machine', checkMachine);
  await progress.step('Docker Engine', ensureDockerEngine);
  await checkPorts();
  const build = await startLocalBuild(official, { images }, progress);
  const tools = await findCommandLineTools(progress);
  const kubectl = kubectlWith(tools.kubectl);

  // An existing cluster has the registry's password. With a new cluster, the registries start and receive images
  // concurrently.
  const isNew = !(await hasNode());
  let planned: ReturnType<typeof planNodeImage> | undefined;
  const plan = () => (planned ??= planNodeImage(official));
  let image: Promise<NodeImage> | undefined;
  const nodeImage = () => (image ??= plan().then((one) => provideNodeImage(one, progress)));
  const startRegistries = async () => {
    // What is built by now is pushed, and pulled while kubeadm starts the control plane.
    await Promise.all([build.programs, build.images]);
    await ensureBaseImages(['registry'], progress);
    const password = isNew ? async () => undefined : () => installedPassword(kubectl);
    const registry = await progress.step('registry', (detail) => ensureRegistry(password, progress, detail));
    const installed = isNew ? undefined : kubectl;
    await progress.step('registry of built images', (detail) => ensureImageRegistry(installed, detail));
    const { isBuiltLocally } = isNew ? await plan() : node;
    const parts: string[] = [];
    const stored = isBuiltLocally && isNew ? storedImages(firstImages(newCluster.nodes ?? 1)) : [];
    if (isBuiltLocally && isNew) {
      for (const one of images) {
        const delivered = await deliverStored(one, registry, progress);
        if (delivered !== undefined) parts.push(delivered);
      }
    }
    if (isBuiltLocally) await mirrorImages([...new Set<ImageName>(['valkey', 'node', ...stored])], registry, progress);
    return { registry, parts, images: stored };
  };
  const early = isNew ? startRegistries() : undefined;
  early?.catch(() => undefined); // Reported below.
  const failing = new AbortController();
  const prefetched = early && prefetchImages(early, nodeImage, progress, failing.signal);
  const node = await ensureKindCluster(newCluster, nodeImage, tools, progress).catch((error: unknown) => {
    failing.abort();
    throw error;
  });
  // Coppice's installation waits for these objects, so they come before everything else.
  const firstObjects = applyFirstObjects(kubectl);
  firstObjects.catch(() => undefined); // Reported below.
  const { registry, parts } = await (early ?? startRegistries());
  await connectRegistries();
  // The node and builders do not read Docker's configuration, so they get its mirrors.
  const hubMirrors = node.isBuiltLocally ? [] : await dockerHubMirrors();
  const nodeRegistry = configureNodeRegistry(registry, node.isBuiltLocally, hubMirrors);
  nodeRegistry.catch(() => undefined); // Reported below.
  const load = async (name: ImageName, nodes: readonly string[]) => {
    if (!node.isBuiltLocally) return;
    const isPrefetched = (await prefetched?.(name)) === true;
    const missing = isPrefetched ? nodes.filter((one) => one !== NODE_CONTAINER) : nodes;
    if (missing.length === 0) return;
    await mirrorImages([name], registry, progress);
    await nodeRegistry;
    const stored = await storeBaseImages([name], progress);
    await Promise.all(missing.map((one) => pullIntoNode(one, stored, progress)));
  };
  const pullPart = async (part: string) => {
    if ((await prefetched?.(part)) === true) return;
    await nodeRegistry;
    await pullPartIntoNode(NODE_CONTAINER, part, progress);
  };
  const working = await workingNodes();
  const ready = Promise.all([
    waitForNodes(tools, 120),
    Promise.all([load('traefik', [NODE_CONTAINER]), firstObjects]).then(() =>
      Promise.all([startIngressController(kubectl, progress), load('buildkit', working)]),
    ),
    ...parts.map(pullPart),
    progress.step('names *.localhost in the cluster', () => answerLocalhostNames(kubectl, working.length)),
  ]).then(() => undefined);
  ready.catch(() => undefined); // Callers that await it report a failure.
  await nodeRegistry;
  // While images are built, deployments would exceed their deadlines for lack of CPU time.
  if (build.isNeeded) await ready;
  const ingressUrl = `http://127.0.0.1:${INGRESS_PORT}`;
  const isMirror = node.isBuiltLocally;
  return {
    hubMirrors,
    kubeconfig: KUBECONFIG_FILE,
    kubectl,
    tools,
    registry,
    isMirror,
    ingressUrl,
    isKind: true,
    isNew,
    nodes: working.length,
    ready,
  };
}

const readManifest = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** Creates what kubelets need, and what Coppice's chart looks for, before the Ingress controller runs. */
async function applyFirstObjects(kubectl: Kubectl): Promise<void> {
  const objects = [readManifest('node-permissions.yaml'), readManifest('traefik-service.yaml'), traefikDefinitions()];
  await apply(kubectl, objects.join('---\n'));
  if (await isIpv6Only(kubectl)) await forwardIpv4(kubectl);
}

async function startIngressController(kubectl: Kubectl, progress: Progress): Promise<void> {
  await progress.step('Ingress controller', async () => {
    await apply(kubectl, readManifest('traefik.yaml'));
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
