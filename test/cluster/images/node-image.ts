import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBaseImages, imageProblem, pullFailure } from './base-images.ts';
import { installDebianPackages, isDebianRoot } from '../machine/debian-packages.ts';
import { dockerBuild, flattenImage, imageRecipes } from './docker.ts';
import type { ProgramName } from '../go/go-binaries.ts';
import { moduleSources } from '../go/go-workspace.ts';
import { imageStore, importIntoDocker, loadIntoDocker } from './image-store.ts';
import { CACHE_FOLDER, PROGRAMS_FOLDER } from '../../support/paths.ts';
import { messageOf, Problem } from '../../support/problem.ts';
import { buildPrograms, programStamp } from '../go/programs.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { recipeHash } from '../recipe.ts';
import { run, tryRun } from '../../support/run.ts';
import { VERSIONS } from '../versions.ts';

export interface NodeImage {
  name: string;
  /** Whether it was built locally from Debian packages and Go modules, because kindest/node could not be pulled. */
  isBuiltLocally: boolean;
}

const localRepository = 'coppice-kind-node';
const localName = `${localRepository}:${VERSIONS.kubernetes}`;

export const nodeImageNamed = (name: string): NodeImage => ({
  name,
  isBuiltLocally: name.startsWith(`${localRepository}:`),
});

/** Programs in the node image. */
export const NODE_PROGRAMS: readonly ProgramName[] = ['node', 'containerd', 'ctr', 'containerd-shim-runc-v2'];

/** Stages of node.Dockerfile that need no compiled Go program, so they are built while Go compiles. */
const systemStages = { network: 'coppice-kind-node-network', system: 'coppice-kind-node-system' };
const dockerfile = join(import.meta.dirname, 'node-image/node.Dockerfile');
/** Images from which the node image is made: with several layers, and with one. */
const layersName = `${localRepository}-layers`;
/** The name in settings.Dockerfile. */
const filesName = `${localRepository}-files`;
const settings = join(import.meta.dirname, 'node-image/settings.Dockerfile');

/** The local node image replaces only that of the same version of kind, and no other one that a user names. */
const isReplaced = (official: string): boolean => official === VERSIONS.pulledNodeImage;

/** Returns a node image that Docker or the store has, so that none has to be built or pulled: the official one first. */
async function findNodeImage(official: string): Promise<NodeImagePlan | undefined> {
  const present = await imageRecipes([official, localName]);
  if (present.has(official)) return { ...nodeImageNamed(official), from: 'docker' };
  if (!isReplaced(official)) return undefined;
  if (present.get(localName) === recipe()) return { ...nodeImageNamed(localName), from: 'docker' };
  if (imageStore.find(localName, recipe()) !== undefined) return { ...nodeImageNamed(localName), from: 'store' };
  return undefined;
}

/** Stores a locally built node image, so that it is not built again when Docker loses it. */
export async function storeNodeImage(progress: Progress): Promise<void> {
  if ((await imageRecipes([localName])).get(localName) === recipe()) await imageStore.store([localName], progress);
}

/** A node image and where it comes from: Docker has it, or it is stored, pulled or built. */
export interface NodeImagePlan extends NodeImage {
  from: 'docker' | 'store' | 'registry' | 'build';
}

/**
 * Decides where kind's node image comes from: the official one if it exists or can be pulled, otherwise a locally built
 * one. Throws a Problem if it can be neither pulled nor built.
 */
export async function planNodeImage(official: string): Promise<NodeImagePlan> {
  const found = await findNodeImage(official);
  if (found) return found;
  const why = await pullFailure();
  if (why === undefined) return { ...nodeImageNamed(official), from: 'registry' };
  if (!isDebianRoot()) throw await imageProblem(official);
  if (!isReplaced(official)) {
    const instead = `Without --node-image, one of Kubernetes ${VERSIONS.kubernetes} is built locally.`;
    throw new Problem(`${official} cannot be pulled: ${why}\n${instead}`);
  }
  return { ...nodeImageNamed(localName), from: 'build' };
}

/** Makes Docker have a planned node image, and returns it. */
export async function provideNodeImage({ from, ...image }: NodeImagePlan, progress: Progress): Promise<NodeImage> {
  const { name } = image;
  if (from === 'store') await progress.step(`load ${name} into Docker`, loadStored);
  if (from === 'registry') {
    const pull = (detail: Detail) => run('docker', ['pull', name], { detail, deadline: 1200 });
    await progress.step(`pull ${name.split('@')[0] ?? ''}`, pull);
  }
  if (from === 'build') {
    await Promise.all([buildPrograms(NODE_PROGRAMS, progress), ensureNodeSystem(progress)]);
    await progress.step(`build the node image ${name}`, buildNodeImage);
  }
  return image;
}

async function loadStored(detail: Detail): Promise<void> {
  const stored = imageStore.find(localName, recipe());
  if (stored === undefined) throw new Error(`${localName} is not stored any more`);
  try {
    await importIntoDocker(stored, detail);
  } catch (error) {
    detail(`it is loaded with its layers: ${messageOf(error)}`);
    await loadIntoDocker([stored], detail);
  }
}

let system: Promise<void> | undefined;

/** Builds the Debian part of the node image, once. */
export function ensureNodeSystem(progress: Progress): Promise<void> {
  system ??= buildNodeSystem(progress);
  return system;
}

async function buildNodeSystem(progress: Progress): Promise<void> {
  await ensureBaseImages(['debian', 'busybox'], progress);
  await progress.step("build the node image's system", async (detail) => {
    await installDebianPackages(['containernetworking-plugins', 'gcc', 'jq', 'libc6-dev', 'runc'], detail);
    const context = mkdtempSync(join(CACHE_FOLDER, 'node-system-'));
    try {
      for (const [target, name] of Object.entries(systemStages)) {
        await dockerBuild(name, context, { recipe: recipe(), dockerfile, target, detail });
      }
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  });
}

function recipe(): string {
  const { kubernetes, etcdImageTag, corednsImageTag, pauseImageTag, kind, debian } = VERSIONS;
  const words = [
    kubernetes,
    etcdImageTag,
    corednsImageTag,
    pauseImageTag,
    kind,
    debian,
    ...NODE_PROGRAMS.map(programStamp),
  ];
  return recipeHash([join(import.meta.dirname, 'node-image')], words);
}

async function buildNodeImage(detail: Detail): Promise<void> {
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const work = mkdtempSync(join(CACHE_FOLDER, 'node-image-'));
  try {
    const env = {
      WORK: work,
      PROGRAMS: PROGRAMS_FOLDER,
      KIND_SOURCE: await moduleSources('sigs.k8s.io/kind'),
      KUBERNETES_SOURCE: await moduleSources('k8s.io/kubernetes'),
      KUBERNETES: VERSIONS.kubernetes,
      ETCD: VERSIONS.etcdImageTag,
      COREDNS: VERSIONS.corednsImageTag,
      PAUSE: VERSIONS.pauseImageTag,
    };
    await run(join(import.meta.dirname, 'node-image/make'), [], { env, detail, deadline: 900 });
    await dockerBuild(layersName, work, { recipe: recipe(), dockerfile, detail });
    await flattenImage(layersName, filesName, { recipe: recipe(), scratch: work, detail });
    const nothing = join(work, 'nothing');
    mkdirSync(nothing);
    await dockerBuild(localName, nothing, { recipe: recipe(), dockerfile: settings, detail });
  } finally {
    await tryRun('docker', ['rmi', layersName, filesName]);
    rmSync(work, { recursive: true, force: true });
  }
}
