import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureBaseImages, identityOf } from './base-images.ts';
import type { Cluster } from './running-cluster.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import { imageStore } from './image-store.ts';
import type { Progress } from './progress.ts';
import type { Registry } from './registry.ts';
import { recipeHash } from './recipe.ts';
import { pushImage, pushStored } from './registry-images.ts';
import { IMAGES } from './versions.ts';

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

/** Returns what `npm run up` calls the image of what is in the folder now: `NAME:<hash of what goes in>`. */
export async function currentImage(source: ImageSource): Promise<string> {
  return `${source.name}:${await recipeOf(source)}`;
}

/** Returns whether the image of what is in the folder now is built. */
export async function hasCurrentImage(source: ImageSource): Promise<boolean> {
  const recipe = await recipeOf(source);
  const image = `${source.name}:${recipe}`;
  return imageStore.find(image, recipe) !== undefined || (await imageRecipes([image])).has(image);
}

async function recipeOf({ context, dockerfile }: ImageSource): Promise<string> {
  const { paths, counts } = contextOf(context, dockerfile);
  return recipeHash([dockerfile, ...paths], [await identityOf('node')], counts);
}

let lastBuild: Promise<void> = Promise.resolve();

/**
 * Builds an image of ours from a folder, unless Docker has it. Builds run one after another: side by side, two that
 * share their first commands would each make layers of their own, which the node would then unpack twice.
 */
function buildImage(source: ImageSource, image: string, progress: Progress): Promise<void> {
  const build = lastBuild.then(() => buildMissing(source, image, progress));
  lastBuild = build.catch(() => undefined);
  return build;
}

async function buildMissing({ context, dockerfile }: ImageSource, image: string, progress: Progress): Promise<void> {
  if ((await imageRecipes([image])).has(image)) return;
  await ensureBaseImages(['node'], progress);
  const args: Record<string, string> = {};
  if (readFileSync(dockerfile, 'utf8').includes('ARG NODE_IMAGE=')) args['NODE_IMAGE'] = IMAGES.node;
  const recipe = image.slice(image.lastIndexOf(':') + 1);
  await progress.step(`build ${image}`, (detail) => dockerBuild(image, context, { recipe, dockerfile, args, detail }));
}

/**
 * Builds an image of ours where it is not built, brings it to the registry, and returns the name to use in a manifest.
 * Through the registry for kind too: of an image that changed it moves the changed layers only, where `kind load` moves
 * all of it.
 */
export async function deliverImage(
  source: ImageSource,
  { registry, isMirror }: Pick<Cluster, 'registry' | 'isMirror'>,
  progress: Progress,
): Promise<string> {
  // What a pulled image's identity is, Docker knows; one that is built locally has its recipe's.
  if (!isMirror) await ensureBaseImages(['node'], progress);
  const recipe = await recipeOf(source);
  const image = `${source.name}:${recipe}`;
  if (!isMirror) {
    await buildImage(source, image, progress);
    return pushImage(image, image, registry, progress);
  }
  if (imageStore.find(image, recipe) === undefined) {
    await buildImage(source, image, progress);
    await imageStore.store([image], progress);
  }
  const stored = imageStore.find(image, recipe);
  if (stored === undefined) throw new Error(`${image} was not stored: Docker has it, but not of this recipe`);
  return pushStored(stored, image, registry, progress);
}

/** Pushes the image of what is in the folder now, if it was built and stored before. */
export async function deliverStored(source: ImageSource, registry: Registry, progress: Progress): Promise<void> {
  const recipe = await recipeOf(source);
  const image = `${source.name}:${recipe}`;
  const stored = imageStore.find(image, recipe);
  if (stored !== undefined) await pushStored(stored, image, registry, progress);
}
