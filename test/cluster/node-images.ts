import { imageStore } from './image-store.ts';
import type { StoredImage } from './image-store.ts';
import { nodeContainer } from './kind-cluster.ts';
import type { Progress } from './progress.ts';
import { onNode, tryOnNode } from './on-node.ts';

/** The reference of an image of docker.io as containerd names it. */
const containerdName = (image: string): string => `docker.io/${image.includes('/') ? image : `library/${image}`}`;

/** containerd keeps labels of its own for an image: the recipe that it was loaded with is one. */
const recipeLabel = 'dev.coppice.recipe';

/** Returns the recipe that an image of the node was loaded with; undefined when the image is not there. */
async function nodeRecipe(image: string): Promise<string | undefined> {
  const output = await tryOnNode('ctr', '-n', 'k8s.io', 'images', 'list', `name==${containerdName(image)}`);
  return new RegExp(`${recipeLabel}=([^ ,]*)`).exec(output ?? '')?.[1];
}

/** Loads those of the stored images into the node that it does not have in this version. */
export async function loadIntoNode(images: readonly StoredImage[], progress: Progress): Promise<void> {
  for (const stored of images) {
    const { image, recipe } = stored;
    if ((await nodeRecipe(image)) === recipe) continue;
    await progress.step(`load ${image} into the node`, async (detail) => {
      const load = 'docker exec -i "$1" ctr -n k8s.io images import --digests=true --snapshotter=overlayfs -';
      await imageStore.stream([stored], load, [nodeContainer], detail);
      await onNode('ctr', '-n', 'k8s.io', 'images', 'label', containerdName(image), `${recipeLabel}=${recipe}`);
    });
  }
}
