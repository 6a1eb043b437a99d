import { imageRecipes } from './docker.ts';
import { nodeContainer } from './kind-cluster.ts';
import type { Progress } from './progress.ts';
import { run, tryRun } from './run.ts';

/** The reference of an image of docker.io as containerd names it. */
const containerdName = (image: string): string => `docker.io/${image.includes('/') ? image : `library/${image}`}`;

/** containerd keeps labels of its own for an image: the recipe that it was loaded with is one. */
const recipeLabel = 'dev.coppice.recipe';

/** Returns the recipe that an image of the node was loaded with; undefined when the image is not there. */
async function nodeRecipe(image: string): Promise<string | undefined> {
  const args = ['exec', nodeContainer, 'ctr', '-n', 'k8s.io', 'images', 'list', `name==${containerdName(image)}`];
  const output = await tryRun('docker', args);
  return new RegExp(`${recipeLabel}=([^ ,]*)`).exec(output ?? '')?.[1];
}

/** Loads those of Docker's images into the node that it does not have in this version. */
export async function loadIntoNode(images: readonly string[], progress: Progress): Promise<void> {
  const recipes = await imageRecipes(images);
  for (const image of images) {
    const recipe = recipes.get(image) ?? '';
    if ((await nodeRecipe(image)) === recipe) continue;
    const load =
      'docker save "$1" | docker exec -i "$2" ctr -n k8s.io images import --digests=true --snapshotter=overlayfs - && ' +
      'docker exec "$2" ctr -n k8s.io images label "$3" "$4"';
    const args = ['-ec', load, 'sh', image, nodeContainer, containerdName(image), `${recipeLabel}=${recipe}`];
    await progress.step(`load ${image} into the node`, (detail) => run('sh', args, { detail, deadline: 300 }));
  }
}
