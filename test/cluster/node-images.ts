import { imageStore } from './image-store.ts';
import type { StoredImage } from './image-store.ts';
import { NODE_CONTAINER } from './kind-cluster.ts';
import type { Progress } from './progress.ts';
import { onNode, tryOnNode } from './on-node.ts';

/** Returns containerd's name of an image of docker.io. */
const containerdName = (image: string): string => `docker.io/${image.includes('/') ? image : `library/${image}`}`;

/** Label of an image in containerd: the recipe of the loaded version. */
const recipeLabel = 'dev.coppice.recipe';

/** Returns the recipe with which an image was loaded into the node; undefined if it was not loaded. */
async function nodeRecipe(image: string): Promise<string | undefined> {
  const output = await tryOnNode('ctr', '-n', 'k8s.io', 'images', 'list', `name==${containerdName(image)}`);
  return new RegExp(`${recipeLabel}=([^ ,]*)`).exec(output ?? '')?.[1];
}

/** Loads stored images into the node, unless it has them in this version. */
export async function loadIntoNode(images: readonly StoredImage[], progress: Progress): Promise<void> {
  for (const stored of images) {
    const { image, recipe } = stored;
    if ((await nodeRecipe(image)) === recipe) continue;
    await progress.step(`load ${image} into the node`, async (detail) => {
      const load = 'docker exec -i "$1" ctr -n k8s.io images import --digests=true --snapshotter=overlayfs -';
      await imageStore.stream([stored], load, [NODE_CONTAINER], detail);
      await onNode('ctr', '-n', 'k8s.io', 'images', 'label', containerdName(image), `${recipeLabel}=${recipe}`);
    });
  }
}
