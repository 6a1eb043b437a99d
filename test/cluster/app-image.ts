import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBaseImages } from './base-images.ts';
import type { Cluster } from './cluster.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import type { Progress } from './progress.ts';
import { recipeHash } from './recipe.ts';
import { pushImage } from './registry-images.ts';
import { run } from './run.ts';
import { images } from './versions.ts';

/** What a .dockerignore of our form lets through: `*`, then `!path` lines, then patterns of names to leave out. */
function contextOf(context: string): { paths: string[]; counts: (file: string) => boolean } {
  const file = join(context, '.dockerignore');
  if (!existsSync(file)) return { paths: [context], counts: () => true };
  const lines = readFileSync(file, 'utf8').split('\n');
  const paths = lines.filter((line) => line.startsWith('!')).map((line) => join(context, line.slice(1)));
  const leftOut = lines
    .filter((line) => line.startsWith('**/'))
    .map((line) => new RegExp(`/${line.slice(3).replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`));
  return { paths: [...paths, file], counts: (name) => !leftOut.some((pattern) => pattern.test(name)) };
}

/**
 * Builds an image of ours from a folder, as `NAME:<hash of what goes in>`, and answers that name; one that is there
 * already is not built again. Its Dockerfile must be FROM node:24-slim.
 */
export async function buildImage(
  name: string,
  context: string,
  dockerfile: string,
  progress: Progress,
): Promise<string> {
  await ensureBaseImages(['node'], progress);
  const base = await run('docker', ['image', 'inspect', '--format', '{{.Id}}', images.node]);
  const { paths, counts } = contextOf(context);
  const recipe = recipeHash([dockerfile, ...paths], [base], counts);
  const image = `${name}:${recipe}`;
  if (!(await imageRecipes([image])).has(image)) {
    await progress.step(`build ${image}`, (detail) => dockerBuild(image, context, { recipe, dockerfile, detail }));
  }
  return image;
}

/**
 * Brings an image that Docker has to where the cluster finds it, and answers the name to use in a manifest. Through the
 * registry for kind too: of an image that changed it moves the changed layers only, which takes a second or two, where
 * `kind load` moves all of it in fifteen.
 */
export async function deliverImage(image: string, cluster: Cluster, progress: Progress): Promise<string> {
  return pushImage(image, image, cluster.registry, progress);
}
