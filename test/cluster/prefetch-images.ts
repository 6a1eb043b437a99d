import { type ImageName, storeBaseImages } from './base-images.ts';
import { NODE_CONTAINER, waitForContainerd } from './kind-cluster.ts';
import type { NodeImage } from './node-image.ts';
import { pullIntoNode, pullPartIntoNode } from './node-images.ts';
import { configureNodeRegistry } from './node-registry.ts';
import { messageOf } from './problem.ts';
import type { Progress } from './progress.ts';
import { connectRegistry, type Registry, REGISTRY_CONTAINER } from './registry.ts';

/** Images of docker.io that a new cluster needs before the sample's page, in the order of their use. */
export const CLUSTER_IMAGES = ['traefik', 'valkey', 'buildkit'] as const;

interface NewImages {
  /** This repository's parts. */
  parts: readonly string[];
  images: readonly ImageName[];
}

/**
 * Pulls images into a new node while kubeadm starts the control plane, whose programs mostly wait for each other. Returns
 * those that it pulled: none if the node image is not built locally, since kind then restarts the container runtime.
 */
export async function prefetchImages(
  registries: Promise<NewImages & { registry: Registry }>,
  nodeImage: () => Promise<NodeImage>,
  progress: Progress,
  signal: AbortSignal,
): Promise<NewImages> {
  const nothing = { parts: [], images: [] };
  // Failures of the registries and of the node image are reported by the steps that need them.
  const [started, image] = await Promise.allSettled([registries, nodeImage()]);
  if (started.status === 'rejected' || image.status === 'rejected') return nothing;
  const { registry, parts, images } = started.value;
  const { madeHere } = image.value;
  if (!madeHere || parts.length + images.length === 0) return nothing;
  try {
    await waitForContainerd(signal);
    await connectRegistry(REGISTRY_CONTAINER);
    await configureNodeRegistry(registry, madeHere, []);
    await Promise.all(parts.map((part) => pullPartIntoNode(NODE_CONTAINER, part, progress)));
    await pullIntoNode(NODE_CONTAINER, await storeBaseImages(images, progress), progress);
    return { parts, images };
  } catch (error) {
    if (!signal.aborted) console.log(`Images are pulled once the cluster runs: ${messageOf(error)}`);
    return nothing;
  }
}
