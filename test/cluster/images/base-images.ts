import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { installDebianPackages, isDebianRoot } from '../machine/debian-packages.ts';
import { dockerBuild, imageRecipes } from './docker.ts';
import type { ProgramName } from '../go/go-binaries.ts';
import { moduleFolder, moduleSources } from '../go/go-workspace.ts';
import { imageStore, loadIntoDocker } from './image-store.ts';
import type { StoredImage } from './image-store.ts';
import { CACHE_FOLDER } from '../../support/paths.ts';
import { messageOf, Problem } from '../../support/problem.ts';
import { buildPrograms, programPath, programStamp } from '../go/programs.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { filesBelow, recipeHash, recipeLabelOf } from '../recipe.ts';
import { run } from '../../support/run.ts';
import { IMAGES, VERSIONS } from '../versions.ts';

export type ImageName = keyof typeof IMAGES;
const hostCertificates = '/etc/ssl/certs/ca-certificates.crt';

/** The inputs of an image in addition to the files of its folder under base-images/. */
interface Recipe {
  from?: ImageName;
  programs?: ProgramName[];
  /** Whether the Dockerfile has a stage `system` without the programs, which can be built while they are compiled. */
  hasSystemStage?: boolean;
  words?: string[];
  hostFiles?: Record<string, string>;
  prepare?: (context: string, detail: Detail) => Promise<void>;
}

const recipes: Record<ImageName, Recipe> = {
  debian: { words: [VERSIONS.debian] },
  busybox: { hostFiles: { busybox: '/bin/busybox' } },
  node: {
    from: 'debian',
    words: [VERSIONS.node, VERSIONS.npm],
    hostFiles: { 'host-ca-certificates.pem': hostCertificates },
    prepare: installNode,
  },
  valkey: { from: 'debian' },
  buildkit: { from: 'debian', hasSystemStage: true, programs: ['buildkitd', 'buildctl', 'rootlesskit'] },
  traefik: { from: 'busybox', programs: ['traefik'] },
  registry: { from: 'busybox', programs: ['registry'] },
  golang: { from: 'debian', words: [VERSIONS.go], prepare: installGo },
  nginx: { from: 'debian' },
  postgres: { from: 'debian' },
  python: { from: 'debian' },
  redis: { from: 'debian' },
  gitea: { from: 'debian', programs: ['gitea'], prepare: copyGiteaFiles },
  'metrics-server': { from: 'busybox', programs: ['metrics-server'] },
};

const folderOf = (name: ImageName): string => join(import.meta.dirname, 'base-images', name);

let failure: Promise<string | undefined> | undefined;

/** Returns why the Docker Engine cannot pull images; undefined if it can. Tried once, for at most 20 s. */
export function pullFailure(): Promise<string | undefined> {
  failure ??= run('docker', ['pull', '-q', IMAGES.busybox], { deadline: 20 }).then(
    () => undefined,
    (error: unknown) => messageOf(error).trim().split('\n').at(-1),
  );
  return failure;
}

/** Returns whether the Docker Engine can pull images. */
export const registriesAreReached = async (): Promise<boolean> => (await pullFailure()) === undefined;

/** Returns the Problem that an image can be neither pulled nor built on this machine. */
export async function imageProblem(image: string): Promise<Problem> {
  const instead = 'or run this as root on Debian, where images are built locally.';
  return new Problem(
    `${image} cannot be pulled: ${(await pullFailure()) ?? ''}\nCheck Docker's network, proxy and rate limit, ${instead}`,
  );
}

const ensured = new Map<ImageName, Promise<void>>();

/**
 * Ensures that Docker has these images: one that is there is used, one that is missing is loaded from the store or pulled,
 * and where no registry is reached built locally under its usual name. One that was built locally is built again when its
 * recipe changed.
 */
export async function ensureBaseImages(names: readonly ImageName[], progress: Progress): Promise<void> {
  for (const name of names) {
    const promise = ensured.get(name) ?? ensureBaseImage(name, progress);
    ensured.set(name, promise);
    await promise;
  }
}

async function ensureBaseImage(name: ImageName, progress: Progress): Promise<void> {
  const found = (await imageRecipes([IMAGES[name]])).get(IMAGES[name]);
  // Pulled images have no recipe.
  if (found === '' || found === recipeOf(name)) return;
  const stored = findStored(name);
  if (stored !== undefined) {
    await progress.step(`load ${IMAGES[name]} into Docker`, (detail) => loadIntoDocker([stored], detail));
    return;
  }
  // Only Debian's root can replace an image of another recipe by a locally built one.
  if ((found === undefined || !isDebianRoot()) && (await registriesAreReached())) {
    await progress.step(`pull ${IMAGES[name]}`, (detail) =>
      run('docker', ['pull', IMAGES[name]], { detail, deadline: 600 }),
    );
    return;
  }
  await buildBaseImage(name, progress);
}

/** Returns a stored image that was built locally from the current recipe, or pulled, which has no recipe. */
function findStored(name: ImageName): StoredImage | undefined {
  return imageStore.find(IMAGES[name], recipeOf(name)) ?? imageStore.find(IMAGES[name], '');
}

/** Returns those of the images that are stored, in order. */
export function storedImages(names: readonly ImageName[]): ImageName[] {
  return names.filter((name) => findStored(name) !== undefined);
}

/** Stores those of the images that are not stored; builds or pulls those that Docker does not have. Returns them in order. */
export async function storeBaseImages(names: readonly ImageName[], progress: Progress): Promise<StoredImage[]> {
  const missing = names.filter((name) => findStored(name) === undefined);
  await ensureBaseImages(missing, progress);
  await imageStore.store(
    missing.map((name) => IMAGES[name]),
    progress,
  );
  return names.map((name) => {
    const stored = findStored(name);
    if (stored === undefined) throw new Error(`${IMAGES[name]} was not stored: Docker has it, but of another recipe`);
    return stored;
  });
}

/** Returns a text that changes whenever images that are based on this one must be built again. */
export async function identityOf(name: ImageName): Promise<string> {
  const found = (await imageRecipes([IMAGES[name]])).get(IMAGES[name]);
  if (found === '') return (await run('docker', ['image', 'inspect', '--format', '{{.Id}}', IMAGES[name]])).trim();
  const stored = found === undefined ? findStored(name) : undefined;
  // A stored pulled image is about to be loaded into Docker, where its ID is the digest of its configuration.
  return stored?.recipe === '' ? `sha256:${stored.config}` : recipeOf(name);
}

function recipeOf(name: ImageName): string {
  const recipe = recipes[name];
  const parent = recipe.from ? recipeOf(recipe.from) : '';
  // No build happens here: the stamps of the programs are enough to know whether the image is the one we want.
  const stamps = (recipe.programs ?? []).map(programStamp);
  return recipeHash(
    [folderOf(name), ...Object.values(recipe.hostFiles ?? {}).filter((file) => existsSync(file))],
    [parent, ...stamps, ...(recipe.words ?? [])],
  );
}

const systemStages = new Map<ImageName, Promise<void>>();

/** Builds the stage `system` of an image, once; the build of the image reuses its layers. */
export function ensureSystemStage(name: ImageName, progress: Progress): Promise<void> {
  const stage = systemStages.get(name) ?? buildSystemStage(name, progress);
  systemStages.set(name, stage);
  return stage;
}

async function buildSystemStage(name: ImageName, progress: Progress): Promise<void> {
  if (findStored(name) !== undefined) return;
  const { from } = recipes[name];
  if (from) await ensureBaseImages([from], progress);
  const options = { recipe: recipeOf(name), target: 'system' };
  await progress.step(`build the system of ${IMAGES[name]}`, (detail) =>
    dockerBuild(`coppice-${name}-system`, folderOf(name), { ...options, detail }),
  );
}

async function buildBaseImage(name: ImageName, progress: Progress): Promise<void> {
  const recipe = recipes[name];
  if (!isDebianRoot()) throw await imageProblem(IMAGES[name]);
  if (recipe.from) await ensureBaseImages([recipe.from], progress);
  await Promise.all([
    recipe.hasSystemStage && ensureSystemStage(name, progress),
    buildPrograms(recipe.programs ?? [], progress),
  ]);
  await progress.step(`build ${IMAGES[name]}`, async (detail) => {
    await installDebianPackages(['debootstrap', 'busybox-static'], detail);
    const hash = recipeOf(name);
    if (name === 'debian') {
      const args = [IMAGES.debian, VERSIONS.debian, recipeLabelOf(hash)];
      await run(join(folderOf('debian'), 'make'), args, { detail, deadline: 900 });
      return;
    }
    const context = mkdtempSync(join(CACHE_FOLDER, 'image-'));
    try {
      for (const file of filesBelow(folderOf(name))) copyFileSync(file, join(context, basename(file)));
      for (const [to, from] of Object.entries(recipe.hostFiles ?? {})) copyFileSync(from, join(context, to));
      for (const program of recipe.programs ?? []) linkSync(programPath(program), join(context, program));
      await recipe.prepare?.(context, detail);
      await dockerBuild(IMAGES[name], context, { recipe: hash, detail });
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  });
}

/** Lays out usr-local/ with node, npm and npx as the official image has them, from npm packages. */
async function installNode(context: string, detail: Detail): Promise<void> {
  const platform = `node-linux-${process.arch}`;
  const scratch = join(context, 'scratch');
  const local = join(context, 'usr-local');
  mkdirSync(join(local, 'bin'), { recursive: true });
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  mkdirSync(scratch);
  writeFileSync(join(scratch, 'package.json'), '{}');
  const packages = [`${platform}@${VERSIONS.node}`, `npm@${VERSIONS.npm}`];
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', scratch];
  await run('npm', ['install', ...flags, ...packages], { cwd: scratch, detail, deadline: 600 });
  renameSync(join(scratch, 'node_modules', platform, 'bin/node'), join(local, 'bin/node'));
  renameSync(join(scratch, 'node_modules/npm'), join(local, 'lib/node_modules/npm'));
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  renameSync(join(context, 'docker-entrypoint.sh'), join(local, 'bin/docker-entrypoint.sh'));
  rmSync(scratch, { recursive: true });
}

/** Lays out go/ as /usr/local/go: the toolchain of that version, which Go itself fetches where it is another's. */
async function installGo(context: string, detail: Detail): Promise<void> {
  const env = { GOTOOLCHAIN: `go${VERSIONS.go}` };
  const root = (await run('go', ['env', 'GOROOT'], { env, deadline: 300 })).trim();
  detail(`copying ${root}`);
  for (const name of ['VERSION', 'go.env', 'bin', 'lib', 'pkg', 'src']) {
    // Go's own programs are there; their sources, a quarter of the whole, build nothing else.
    const filter = (path: string) => path !== join(root, 'src/cmd');
    cpSync(join(root, name), join(context, 'go', name), { recursive: true, filter });
  }
}

/** Lays out static/ with what Gitea reads beside its program: texts, templates and pictures. */
async function copyGiteaFiles(context: string): Promise<void> {
  const sources = await moduleSources('code.gitea.io/gitea', moduleFolder('gitea'));
  for (const name of ['options', 'public', 'templates']) {
    cpSync(join(sources, name), join(context, 'static', name), { recursive: true });
  }
}
