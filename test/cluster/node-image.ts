import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBaseImages, registriesAreReached } from './base-images.ts';
import { installDebianPackages, isDebianRoot } from './debian-packages.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import { cacheFolder, programsFolder } from './paths.ts';
import { Problem } from './problem.ts';
import { buildPrograms, programStamp } from './programs.ts';
import type { ProgramName } from './programs.ts';
import type { Detail, Progress } from './progress.ts';
import { recipeHash } from './recipe.ts';
import { run } from './run.ts';
import { versions } from './versions.ts';

export interface NodeImage {
  name: string;
  /** Made here from Debian packages and Go modules, because kindest/node could not be pulled. */
  madeHere: boolean;
}

const madeRepository = 'coppice-kind-node';
const madeName = `${madeRepository}:${versions.kubernetes}`;

export const nodeImageNamed = (name: string): NodeImage => ({ name, madeHere: name.startsWith(`${madeRepository}:`) });

const programs: ProgramName[] = [
  'kubeadm',
  'kubectl',
  'kubernetes-components',
  'etcd',
  'crictl',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'coredns',
  'local-path-provisioner',
];

/** kind's node image: the official one where it is there or can be pulled, otherwise one that is assembled here. */
export async function ensureNodeImage(progress: Progress): Promise<NodeImage> {
  const present = await imageRecipes([versions.pulledNodeImage, madeName]);
  if (present.has(versions.pulledNodeImage)) return nodeImageNamed(versions.pulledNodeImage);
  if (present.get(madeName) === recipe()) return nodeImageNamed(madeName);
  if (await registriesAreReached()) {
    await progress.step(`pull ${versions.pulledNodeImage.split('@')[0] ?? ''}`, (detail) =>
      run('docker', ['pull', versions.pulledNodeImage], { detail, deadline: 1200 }),
    );
    return nodeImageNamed(versions.pulledNodeImage);
  }
  if (!isDebianRoot()) {
    throw new Problem(
      'kindest/node cannot be pulled: no image registry is reached. Only on Debian, as root, is it made here.',
    );
  }
  await buildPrograms(programs, progress);
  await ensureBaseImages(['debian', 'busybox'], progress);
  await progress.step(`make the node image ${madeName}, since kindest/node cannot be pulled`, make);
  return nodeImageNamed(madeName);
}

function recipe(): string {
  const { kubernetes, etcdImageTag, coredns, pauseImageTag, kind, debian } = versions;
  const words = [kubernetes, etcdImageTag, coredns, pauseImageTag, kind, debian, ...programs.map(programStamp)];
  return recipeHash([join(import.meta.dirname, 'node-image')], words);
}

async function make(detail: Detail): Promise<void> {
  await installDebianPackages(['containernetworking-plugins', 'gcc', 'jq', 'libc6-dev', 'runc'], detail);
  mkdirSync(cacheFolder, { recursive: true });
  const work = mkdtempSync(join(cacheFolder, 'node-image-'));
  try {
    const env = {
      WORK: work,
      PROGRAMS: programsFolder,
      KUBECTL: join(programsFolder, 'kubectl'),
      KIND_SOURCE: await moduleSource(`sigs.k8s.io/kind@${versions.kind}`),
      KUBERNETES_SOURCE: await moduleSource(`k8s.io/kubernetes@${versions.kubernetes}`),
      KUBERNETES: versions.kubernetes,
      ETCD: versions.etcdImageTag,
      COREDNS: versions.coredns,
      PAUSE: versions.pauseImageTag,
    };
    await run(join(import.meta.dirname, 'node-image/make'), [], { env, detail, deadline: 900 });
    const dockerfile = join(import.meta.dirname, 'node-image/node.Dockerfile');
    await dockerBuild(madeName, work, { recipe: recipe(), dockerfile, detail });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The folder of a Go module's source in the module cache. */
async function moduleSource(module: string): Promise<string> {
  const answer: unknown = JSON.parse(await run('go', ['mod', 'download', '-json', module], { deadline: 300 }));
  if (typeof answer === 'object' && answer !== null && 'Dir' in answer && typeof answer.Dir === 'string')
    return answer.Dir;
  throw new Problem(`go mod download tells no folder of ${module}`);
}
