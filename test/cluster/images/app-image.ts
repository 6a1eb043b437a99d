import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureBaseImages, identityOf } from './base-images.ts';
import type { Cluster } from '../running-cluster.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import { imageStore, type StoredImage } from './image-store.ts';
import type { Progress } from '../../support/progress.ts';
import type { Registry } from '../registries/registry.ts';
import { recipeHash } from '../recipe.ts';
import { pushImage, pushStored } from './push-image.ts';
import { IMAGES } from '../versions.ts';

/** Returns the paths that a Dockerfile copies from its build context. */
export function copiedPaths(dockerfile: string): Set<string> {
  return new Set(dockerfile.match(/(?<=^COPY )(?!--from=).*(?= \S+$)/gm)?.flatMap((line) => line.split(' ')));
}

/** Returns whether a path of the build context is one of the copied paths, is below one, or matches one with `*`. */
export function isCopied(copied: ReadonlySet<string>, file: string): boolean {
  return [...copied].some((path) => {
    const pattern = path.split('*').map((text) => text.replaceAll(/[^\w/-]/g, '\\$&'));
    return new RegExp(`^${pattern.join('[^/]*')}(/|$)`).test(file);
  });
}

/**
 * Returns the files of a build context on which its image depends: those that .dockerignore admits (`*`, then `!path`
 * lines, then patterns to exclude) and the Dockerfile copies. A changed file of the context that only another image copies
 * causes no build.
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
 * A Dockerfile of this repository and its build context. It must be FROM node:24-slim, or FROM ${NODE_IMAGE}, which is
 * replaced by node:24-slim here, because the pinned image cannot be pulled everywhere.
 */
export interface ImageSource {
  name: string;
  context: string;
  dockerfile: string;
}

/** Returns the name that `npm run up` gives the image of the current files: `NAME:<hash of its inputs>`. */
export async function currentImage(source: ImageSource): Promise<string> {
  return `${source.name}:${await recipeOf(source)}`;
}

/** Returns whether the image of the current files is built. */
export async function hasCurrentImage(source: ImageSource): Promise<boolean> {
  const image = await currentImage(source);
  return findStored(image) !== undefined || (await imageRecipes([image])).has(image);
}

/** Returns the recipe in a name of `currentImage`. */
const recipeIn = (image: string): string => image.slice(image.lastIndexOf(':') + 1);

/** Returns an image that `currentImage` names, if it is stored. */
const findStored = (image: string): StoredImage | undefined => imageStore.find(image, recipeIn(image));

async function recipeOf({ context, dockerfile }: ImageSource): Promise<string> {
  const { paths, counts } = contextOf(context, dockerfile);
  return recipeHash([dockerfile, ...paths], [await identityOf('node')], counts);
}

let lastBuild: Promise<void> = Promise.resolve();

/**
 * Builds an image of this repository, unless Docker has it. Builds run sequentially: two concurrent builds with the same
 * first commands would each create layers for them, which the node would then unpack twice.
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
  const options = { recipe: recipeIn(image), dockerfile, args };
  await progress.step(`build ${image}`, (detail) => dockerBuild(image, context, { ...options, detail }));
}

/** Builds and stores the image of the current files, unless it is stored. */
export async function storeImage(source: ImageSource, progress: Progress): Promise<StoredImage> {
  const image = await currentImage(source);
  if (findStored(image) === undefined) {
    await buildImage(source, image, progress);
    await imageStore.store([image], progress);
  }
  const stored = findStored(image);
  if (stored === undefined) throw new Error(`${image} was not stored: Docker has it, but not of this recipe`);
  return stored;
}

/**
 * Builds an image if it is missing, pushes it to the registry, and returns the name to use in a manifest. kind pulls from
 * the registry too, because a push transfers only changed layers, while `kind load` transfers all of them.
 */
export async function deliverImage(
  source: ImageSource,
  { registry, isMirror }: Pick<Cluster, 'registry' | 'isMirror'>,
  progress: Progress,
): Promise<string> {
  if (isMirror) {
    const stored = await storeImage(source, progress);
    return pushStored(stored, stored.image, registry, progress);
  }
  // The recipe contains the base image's identity, which Docker knows only after it has pulled the image.
  await ensureBaseImages(['node'], progress);
  const image = await currentImage(source);
  await buildImage(source, image, progress);
  return pushImage(image, image, registry, progress);
}

/**
 * Pushes the image of the current files, if it was built and stored before. Returns its name in the registry, for the
 * node; undefined if it is not stored.
 */
export async function deliverStored(
  source: ImageSource,
  registry: Registry,
  progress: Progress,
): Promise<string | undefined> {
  const stored = findStored(await currentImage(source));
  return stored && pushStored(stored, stored.image, registry, progress);
}
