import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBaseImages, registriesAreReached } from './base-images.ts';
import { installDebianPackages, isDebianRoot } from './debian-packages.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import { moduleSources } from './go-workspace.ts';
import { imageStore, loadIntoDocker } from './image-store.ts';
import { CACHE_FOLDER, PROGRAMS_FOLDER } from './paths.ts';
import { Problem } from './problem.ts';
import { buildPrograms, programStamp } from './programs.ts';
import type { ProgramName } from './programs.ts';
import type { Detail, Progress } from './progress.ts';
import { recipeHash } from './recipe.ts';
import { run } from './run.ts';
import { VERSIONS } from './versions.ts';

export interface NodeImage {
  name: string;
  /** Whether it was built locally from Debian packages and Go modules, because kindest/node could not be pulled. */
  madeHere: boolean;
}

const madeRepository = 'coppice-kind-node';
const madeName = `${madeRepository}:${VERSIONS.kubernetes}`;

export const nodeImageNamed = (name: string): NodeImage => ({ name, madeHere: name.startsWith(`${madeRepository}:`) });

/** Programs in the node image. */
export const NODE_PROGRAMS: readonly ProgramName[] = [
  'node',
  'containerd',
  'ctr',
  'containerd-shim-runc-v2',
  'local-path-provisioner',
];

/** Stages of node.Dockerfile that need no compiled Go program, so they are built while Go compiles. */
const systemStages = { network: 'coppice-kind-node-network', system: 'coppice-kind-node-system' };
const dockerfile = join(import.meta.dirname, 'node-image/node.Dockerfile');

/** Returns whether a node image exists, so that none has to be built or pulled. */
export async function hasNodeImage(official: string): Promise<boolean> {
  return (await findNodeImage(official)) !== undefined || imageStore.find(madeName, recipe()) !== undefined;
}

/** Returns Docker's node image: the official one, or the current locally built one. */
async function findNodeImage(official: string): Promise<NodeImage | undefined> {
  const present = await imageRecipes([official, madeName]);
  if (present.has(official)) return nodeImageNamed(official);
  if (present.get(madeName) === recipe()) return nodeImageNamed(madeName);
  return undefined;
}

/** Stores a locally built node image, so that it is not built again when Docker loses it. */
export async function storeNodeImage(progress: Progress): Promise<void> {
  if ((await imageRecipes([madeName])).get(madeName) === recipe()) await imageStore.store([madeName], progress);
}

/** Returns kind's node image: the official one if it exists or can be pulled, otherwise a locally built one. */
export async function ensureNodeImage(official: string, progress: Progress): Promise<NodeImage> {
  const found = await findNodeImage(official);
  if (found) return found;
  const stored = imageStore.find(madeName, recipe());
  if (stored !== undefined) {
    await progress.step(`load ${madeName} into Docker`, (detail) => loadIntoDocker([stored], detail));
    return nodeImageNamed(madeName);
  }
  if (await registriesAreReached()) {
    await progress.step(`pull ${official.split('@')[0] ?? ''}`, (detail) =>
      run('docker', ['pull', official], { detail, deadline: 1200 }),
    );
    return nodeImageNamed(official);
  }
  if (!isDebianRoot()) {
    throw new Problem(
      'kindest/node cannot be pulled: no image registry is reached. It can be built locally only on Debian, as root.',
    );
  }
  await Promise.all([buildPrograms(NODE_PROGRAMS, progress), ensureNodeSystem(progress)]);
  await progress.step(`build the node image ${madeName}`, make);
  return nodeImageNamed(madeName);
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

async function make(detail: Detail): Promise<void> {
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
    await dockerBuild(madeName, work, { recipe: recipe(), dockerfile, detail });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
