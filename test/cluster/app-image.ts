import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureBaseImages } from './base-images.ts';
import type { Cluster } from './cluster.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import type { Progress } from './progress.ts';
import { recipeHash } from './recipe.ts';
import { pushImage } from './registry-images.ts';
import { run } from './run.ts';
import { images } from './versions.ts';

/** What a Dockerfile copies from its build context. */
export function copiedPaths(dockerfile: string): Set<string> {
  return new Set(dockerfile.match(/(?<=^COPY )(?!--from=).*(?= \S+$)/gm)?.flatMap((line) => line.split(' ')));
}

/** Whether a file of the build context, by its path in it, is one of those, or below one, or matches one with asterisks. */
export function isCopied(copied: ReadonlySet<string>, file: string): boolean {
  return [...copied].some((path) => {
    const pattern = path.split('*').map((text) => text.replaceAll(/[^\w/-]/g, '\\$&'));
    return new RegExp(`^${pattern.join('[^/]*')}(/|$)`).test(file);
  });
}

/**
 * What a .dockerignore of our form lets through, `*`, then `!path` lines, then patterns of names to leave out, and of that
 * what the Dockerfile copies: two images of one context are not made anew for each other's files.
 */
export function contextOf(context: string, dockerfile: string): { paths: string[]; counts: (file: string) => boolean } {
  const file = join(context, '.dockerignore');
  if (!existsSync(file)) return { paths: [context], counts: () => true };
  const lines = readFileSync(file, 'utf8').split('\n');
  const copied = copiedPaths(readFileSync(dockerfile, 'utf8'));
  const paths = lines.filter((line) => line.startsWith('!')).map((line) => join(context, line.slice(1)));
  const leftOut = lines
    .filter((line) => line.startsWith('**/'))
    .map((line) => new RegExp(`/${line.slice(3).replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`));
  const own = [file, dockerfile];
  return {
    paths: [...paths, file],
    counts: (name) => {
      const path = relative(context, name);
      return own.includes(name) || (isCopied(copied, path) && !leftOut.some((pattern) => pattern.test(`/${path}`)));
    },
  };
}

/**
 * A Dockerfile of ours and its build context. It must be FROM node:24-slim, or FROM ${NODE_IMAGE}: the pinned one cannot
 * be pulled everywhere.
 */
export interface ImageSource {
  name: string;
  context: string;
  dockerfile: string;
}

/**
 * What `npm run up` calls the image of what is in the folder now: `NAME:<hash of what goes in>`. Docker has the base image
 * by then.
 */
export async function currentImage(source: ImageSource): Promise<string> {
  return `${source.name}:${await recipeOf(source)}`;
}

/** Returns whether Docker has the image of what is in the folder now. */
export async function hasCurrentImage(source: ImageSource): Promise<boolean> {
  const image = await currentImage(source);
  return (await imageRecipes([image])).has(image);
}

async function recipeOf({ context, dockerfile }: ImageSource): Promise<string> {
  const base = await run('docker', ['image', 'inspect', '--format', '{{.Id}}', images.node]);
  const { paths, counts } = contextOf(context, dockerfile);
  return recipeHash([dockerfile, ...paths], [base], counts);
}

/** Builds an image of ours from a folder, and answers its name; one that is there already is not built again. */
export async function buildImage(source: ImageSource, progress: Progress): Promise<string> {
  const { name, context, dockerfile } = source;
  await ensureBaseImages(['node'], progress);
  const recipe = await recipeOf(source);
  const image = `${name}:${recipe}`;
  if (!(await imageRecipes([image])).has(image)) {
    const args: Record<string, string> = {};
    if (readFileSync(dockerfile, 'utf8').includes('ARG NODE_IMAGE=')) args['NODE_IMAGE'] = images.node;
    const options = { recipe, dockerfile, args };
    await progress.step(`build ${image}`, (detail) => dockerBuild(image, context, { ...options, detail }));
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
