import { z } from 'zod';
import type { CommandLineTools } from './command-line-tools.ts';
import { imageRecipes } from './docker.ts';
import { clusterName, nodeContainer } from './kind-cluster.ts';
import type { Progress } from './progress.ts';
import { run, tryRun } from './run.ts';

const inspected = z.object({
  info: z.object({
    imageSpec: z.object({ config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish() }),
  }),
});

/** The recipe label of an image that the node has ('' when it has none); undefined when the image is not there. */
async function nodeRecipe(image: string): Promise<string | undefined> {
  const output = await tryRun('docker', ['exec', nodeContainer, 'crictl', 'inspecti', '-o', 'json', image]);
  if (output === undefined) return undefined;
  return inspected.parse(JSON.parse(output)).info.imageSpec.config?.Labels?.['dev.coppice.recipe'] ?? '';
}

/** Loads those of Docker's images into the node that it does not have in this version. */
export async function loadIntoNode(
  images: readonly string[],
  tools: CommandLineTools,
  progress: Progress,
): Promise<void> {
  const recipes = await imageRecipes(images);
  for (const image of images) {
    if ((await nodeRecipe(image)) === recipes.get(image)) continue;
    await progress.step(`load ${image} into the node`, (detail) =>
      run(tools.kind, ['load', 'docker-image', '--name', clusterName, image], { detail, deadline: 300 }),
    );
  }
}
