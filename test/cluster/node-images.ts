import type { StoredImage } from './image-store.ts';
import { onNode, tryOnNode } from './on-node.ts';
import type { Progress } from './progress.ts';
import { mirrorPath } from './registry-images.ts';

/** Label of an image in containerd: the recipe of the pulled version. */
const recipeLabel = 'dev.coppice.recipe';

/** Returns the recipe of an image that was pulled into the node; undefined if it was not pulled. */
async function nodeRecipe(image: string): Promise<string | undefined> {
  const output = await tryOnNode('ctr', '-n', 'k8s.io', 'images', 'list', `name==${mirrorPath(image)}`);
  return new RegExp(`${recipeLabel}=([^ ,]*)`).exec(output ?? '')?.[1];
}

/**
 * Pulls images that the mirror of docker.io has into the node, unless it has them in this version. The kubelet would not
 * pull another version of the same tag.
 */
export async function pullIntoNode(images: readonly StoredImage[], progress: Progress): Promise<void> {
  for (const { image, recipe } of images) {
    if ((await nodeRecipe(image)) === recipe) continue;
    await progress.step(`pull ${image} into the node`, async () => {
      const ctr = (...args: string[]) => onNode('ctr', '-n', 'k8s.io', 'images', ...args);
      await ctr('pull', '--hosts-dir', '/etc/containerd/certs.d', '--snapshotter', 'overlayfs', mirrorPath(image));
      await ctr('label', mirrorPath(image), `${recipeLabel}=${recipe}`);
    });
  }
}
