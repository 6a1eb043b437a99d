import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBaseImages } from './base-images.ts';
import { answerLocalhostNames } from './cluster-dns.ts';
import { findCommandLineTools } from './command-line-tools.ts';
import type { CommandLineTools } from './command-line-tools.ts';
import { ensureDockerEngine } from './docker-engine.ts';
import { exclusively } from './exclusively.ts';
import { ensureKindCluster, ingressPort } from './kind-cluster.ts';
import { apply, kubectlWith, rollout } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { ensureNodeImage } from './node-image.ts';
import { loadIntoNode } from './node-images.ts';
import { mirrorImages } from './mirror.ts';
import { configureNodeRegistry } from './node-registry.ts';
import { kubeconfigFile } from './paths.ts';
import { checkMachine, checkPorts } from './prerequisites.ts';
import type { Progress } from './progress.ts';
import { connectRegistry, ensureRegistry } from './registry.ts';
import type { Registry } from './registry.ts';
import { images } from './versions.ts';
import { startLocalBuild } from './local-build.ts';
import { useExistingCluster } from './existing-cluster.ts';
import type { ExistingClusterOptions } from './existing-cluster.ts';

/** A cluster that is up, and how everything else reaches it. */
export interface Cluster {
  /** A file of mode 0600 with this cluster alone. */
  kubeconfig: string;
  kubectl: Kubectl;
  tools: CommandLineTools;
  registry: Registry;
  /** The registry stands in for docker.io, below docker.io/, because the base images were made here. */
  isMirror: boolean;
  /** Where the Ingress controller answers this machine, whatever the Host header says. */
  ingressUrl: string;
  /** False for a cluster that somebody else keeps: images go through the registry, not into the node. */
  isKind: boolean;
}

/** Brings up the local kind cluster; or, where options name one, uses an existing cluster. */
export async function bringUpCluster(progress: Progress, existing?: ExistingClusterOptions): Promise<Cluster> {
  return exclusively(progress, () =>
    existing ? useExistingCluster(existing, progress) : bringUpKindCluster(progress),
  );
}

/**
 * Brings up the local kind cluster with everything around it: Docker Engine, node image, registry, base images, Ingress
 * controller and names. Every step leaves alone what is there, so a second run takes seconds.
 */
async function bringUpKindCluster(progress: Progress): Promise<Cluster> {
  await progress.step('check this machine', checkMachine);
  await progress.step('Docker Engine', ensureDockerEngine);
  await checkPorts();
  const build = await startLocalBuild(progress);
  const tools = await findCommandLineTools(progress);
  const kubectl = kubectlWith(tools.kubectl);

  const node = await ensureKindCluster(() => ensureNodeImage(progress), tools, progress);

  await build.programs;
  // What the scripts themselves use; the node pulls the rest by itself, where it can.
  await ensureBaseImages(['debian', 'node', 'registry'], progress);
  const registry = await progress.step('registry', (detail) => ensureRegistry(kubectl, detail));
  await connectRegistry();
  if (node.madeHere) await provideImages(registry, progress);
  await build.images;
  await configureNodeRegistry(registry, node.madeHere);

  await progress.step('Ingress controller', async () => {
    await apply(kubectl, readFileSync(join(import.meta.dirname, 'traefik.yaml'), 'utf8'));
    await rollout(kubectl, 'traefik', 'traefik');
  });
  await progress.step('names *.localhost in the cluster', () => answerLocalhostNames(kubectl));
  const ingressUrl = `http://127.0.0.1:${ingressPort}`;
  return { kubeconfig: kubeconfigFile, kubectl, tools, registry, isMirror: node.madeHere, ingressUrl, isKind: true };
}

/** Where nothing can be pulled: what builds may name goes into the mirror, the rest, as the quicker way, into the node. */
async function provideImages(registry: Registry, progress: Progress): Promise<void> {
  await mirrorImages(['busybox', 'debian', 'node', 'redis'], registry, progress);
  const loaded = ['traefik', 'buildkit'] as const;
  await ensureBaseImages(loaded, progress);
  await loadIntoNode(
    loaded.map((name) => images[name]),
    progress,
  );
}
