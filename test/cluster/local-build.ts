import { type ImageSource, storeImage } from './app-image.ts';
import { buildSystemStage, type ImageName, registriesAreReached, storeBaseImages } from './base-images.ts';
import { missingCommandLineTools } from './command-line-tools.ts';
import { isDebianRoot } from './debian-packages.ts';
import { ensureDockerEngine } from './docker-engine.ts';
import { ensureNodeSystem, hasNodeImage, NODE_PROGRAMS } from './node-image.ts';
import { checkMachine } from './prerequisites.ts';
import { buildPrograms, downloadModules, type ProgramName } from './programs.ts';
import type { Progress } from './progress.ts';
import { VERSIONS } from './versions.ts';

/** What is built in the background; each promise settles when its part is complete. */
export interface LocalBuild {
  programs: Promise<void>;
  images: Promise<void>;
  /** False if nothing is built, because it exists or can be pulled. */
  isNeeded: boolean;
}

export interface LocalBuildOptions {
  /** Images of docker.io without Go programs, in addition to those that the sample needs. */
  baseImages?: readonly ImageName[];
  /** Images of this repository. */
  images: readonly ImageSource[];
}

/** Programs that a new node's cluster needs only later. */
const laterPrograms: readonly ProgramName[] = ['registry', 'rootlesskit', 'buildkitd', 'buildctl', 'traefik'];

const nothing: LocalBuild = { programs: Promise.resolve(), images: Promise.resolve(), isNeeded: false };

/**
 * Starts to build in the background what cannot be pulled: Go compiles the node's programs first and the others while
 * the node starts, and images without Go programs are built at the same time, since their packages are downloaded for
 * much of it. The caller's steps wait for the parts that they need. Starts nothing if images can be pulled, or there is a
 * node image.
 */
export async function startLocalBuild(
  nodeImage: string,
  { baseImages = [], images: sources }: LocalBuildOptions,
  progress: Progress,
): Promise<LocalBuild> {
  if (!isDebianRoot() || (await hasNodeImage(nodeImage)) || (await registriesAreReached())) return nothing;
  const tools = await missingCommandLineTools();
  // One call, so that the links of the first programs run in parallel with the compilation of others.
  const first = buildPrograms([...NODE_PROGRAMS, ...tools], progress);
  const programs = Promise.all([first, downloadModules(laterPrograms, progress)]).then(() =>
    buildPrograms(laterPrograms, progress),
  );
  const images = buildImages(baseImages, sources, progress);
  // Callers that await them report a failure; an earlier one must not end the process without a message.
  for (const part of [first, programs, images]) part.catch(() => undefined);
  return { programs, images, isNeeded: true };
}

/** Builds what cannot be pulled, for a caller that then needs the processors for something else. */
export async function buildLocally(options: LocalBuildOptions, progress: Progress): Promise<void> {
  await progress.step('check this machine', checkMachine);
  await progress.step('Docker Engine', ensureDockerEngine);
  const { programs, images } = await startLocalBuild(VERSIONS.pulledNodeImage, options, progress);
  await Promise.all([programs, images]);
}

async function buildImages(
  baseImages: readonly ImageName[],
  sources: readonly ImageSource[],
  progress: Progress,
): Promise<void> {
  await ensureNodeSystem(progress);
  await storeBaseImages(['node', 'valkey'], progress);
  await buildSystemStage('buildkit', progress);
  for (const source of sources) await storeImage(source, progress);
  await storeBaseImages(baseImages, progress);
}
