import { type ImageSource, storeImage } from './app-image.ts';
import { ensureSystemStage, type ImageName, pullFailure, storeBaseImages } from './base-images.ts';
import { missingCommandLineTools } from '../machine/command-line-tools.ts';
import { ensureDockerEngine } from '../machine/docker-engine.ts';
import type { ProgramName } from '../go/go-binaries.ts';
import { ensureNodeSystem, NODE_PROGRAMS, type NodeImagePlan, planNodeImage } from './node-image.ts';
import { checkMachine } from '../machine/prerequisites.ts';
import { buildPrograms } from '../go/programs.ts';
import type { Progress } from '../../support/progress.ts';
import { VERSIONS } from '../versions.ts';

/** What is built in the background; each promise settles when its part is complete. */
export interface LocalBuild {
  programs: Promise<void>;
  images: Promise<void>;
  /** False if nothing is built, because it exists or can be pulled. */
  isNeeded: boolean;
}

export interface LocalBuildOptions {
  /** Images of docker.io in addition to those that the sample needs. */
  baseImages?: readonly ImageName[];
  /** Images of this repository. */
  images: readonly ImageSource[];
}

/** Programs that a cluster needs only after its node is created. */
const laterPrograms: readonly ProgramName[] = ['registry', 'rootlesskit', 'buildkitd', 'buildctl', 'traefik'];

const NO_BUILD: LocalBuild = { programs: Promise.resolve(), images: Promise.resolve(), isNeeded: false };

/**
 * Starts to build in the background what cannot be pulled: Go compiles the node's programs first and the others while
 * the node starts, and images that contain no Go program are built at the same time. The caller's steps wait for the
 * parts that they need. Starts nothing without a plan, for an existing cluster, or if the plan builds no node image.
 */
export async function startLocalBuild(
  plan: NodeImagePlan | undefined,
  options: LocalBuildOptions,
  progress: Progress,
): Promise<LocalBuild> {
  return plan?.from === 'build' ? { ...(await startParts(plan, options, progress)), isNeeded: true } : NO_BUILD;
}

/**
 * Builds the same as `startLocalBuild`, and returns when all of it is there. It also builds the parts that are missing
 * beside a node image. Checks the machine and starts Docker first.
 */
export async function finishLocalBuild(options: LocalBuildOptions, progress: Progress): Promise<void> {
  await progress.step('check this machine', checkMachine);
  await progress.step('Docker Engine', ensureDockerEngine);
  const plan = await planNodeImage(VERSIONS.pulledNodeImage);
  if (!plan.isBuiltLocally) return;
  const { programs, images } = await startParts(plan, options, progress);
  // Nothing runs any more when this throws.
  await Promise.allSettled([programs, images]);
  await programs;
  await images;
}

async function startParts(
  { from }: NodeImagePlan,
  options: LocalBuildOptions,
  progress: Progress,
): Promise<Pick<LocalBuild, 'programs' | 'images'>> {
  const needsNode = from === 'build';
  // The build takes minutes.
  if (needsNode) console.log(`Images are built locally, because Docker pulls none: ${(await pullFailure()) ?? ''}`);
  const tools = await missingCommandLineTools();
  // One call, so that the links of the first programs run in parallel with the compilation of others.
  const first = buildPrograms([...NODE_PROGRAMS, ...tools], progress);
  const later = buildPrograms(laterPrograms, progress);
  const programs = Promise.allSettled([first, later]).then(async () => {
    await first;
    await later;
  });
  const images = buildImages(needsNode, options, progress);
  // Callers that await them report a failure; an earlier one must not end the process without a message.
  for (const part of [programs, images]) part.catch(() => undefined);
  return { programs, images };
}

async function buildImages(
  needsNode: boolean,
  { baseImages = [], images }: LocalBuildOptions,
  progress: Progress,
): Promise<void> {
  if (needsNode) await ensureNodeSystem(progress);
  await storeBaseImages(['node', 'valkey'], progress);
  await ensureSystemStage('buildkit', progress);
  for (const source of images) await storeImage(source, progress);
  await storeBaseImages(baseImages, progress);
}
