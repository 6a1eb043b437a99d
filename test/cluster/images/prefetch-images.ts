import { type ImageName, storeBaseImages } from './base-images.ts';
import { NODE_CONTAINER, waitForContainerd } from '../kind-cluster.ts';
import type { NodeImage } from './node-image.ts';
import { pullIntoNode, pullPartIntoNode } from './pull-into-node.ts';
import { configureNodeRegistry } from '../registries/configure-nodes.ts';
import { messageOf } from '../../support/problem.ts';
import type { Progress } from '../../support/progress.ts';
import { connectRegistries } from '../registries/registry-containers.ts';
import type { StartedRegistries } from '../registries/start-registries.ts';

/** Images of docker.io that a new node needs before the sample's page, in the order of their use. */
export function firstImages(nodes: number): ImageName[] {
  // With workers, the control plane runs only the Ingress controller.
  return nodes > 1 ? ['traefik'] : ['traefik', 'valkey', 'buildkit'];
}

/** Returns whether an image was pulled into the control plane's node, once that is known. */
export type Prefetched = (image: string) => Promise<boolean>;

/**
 * Pulls images into a new node while kubeadm starts the control plane, whose programs mostly wait for each other. Pulls none
 * if the node image is not built locally, since kind then restarts the container runtime.
 */
export function prefetchImages(
  registries: Promise<StartedRegistries>,
  nodeImage: () => Promise<NodeImage>,
  progress: Progress,
  signal: AbortSignal,
): Prefetched {
  const report = (error: unknown) => {
    if (!signal.aborted) console.log(`An image is pulled once the cluster runs: ${messageOf(error)}`);
  };
  const succeeds = (pull: Promise<void>) =>
    pull.then(
      () => true,
      (error: unknown) => {
        report(error);
        return false;
      },
    );

  async function startPulls(): Promise<ReadonlyMap<string, Promise<boolean>>> {
    const pulls = new Map<string, Promise<boolean>>();
    // Failures of the registries and of the node image are reported by the steps that need them.
    const [started, image] = await Promise.allSettled([registries, nodeImage()]);
    if (started.status === 'rejected' || image.status === 'rejected') return pulls;
    const { registry, parts, images } = started.value;
    if (!image.value.isBuiltLocally || parts.length + images.length === 0) return pulls;
    await waitForContainerd(signal);
    await connectRegistries();
    await configureNodeRegistry(registry, true, [], [NODE_CONTAINER]);
    for (const part of parts) pulls.set(part, succeeds(pullPartIntoNode(NODE_CONTAINER, part, progress)));
    let last: Promise<unknown> = Promise.all(pulls.values());
    for (const name of images) {
      const pull = async () => pullIntoNode(NODE_CONTAINER, await storeBaseImages([name], progress), progress);
      const pulled = succeeds(last.then(pull));
      pulls.set(name, pulled);
      last = pulled;
    }
    return pulls;
  }

  const pulls = startPulls().catch((error: unknown) => {
    report(error);
    return new Map<string, Promise<boolean>>();
  });
  return async (image) => (await (await pulls).get(image)) ?? false;
}
