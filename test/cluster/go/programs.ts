import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import {
  buildEnvironment,
  COMPILER_FLAGS,
  concurrencyFlags,
  memoryEnvironment,
  thisMachine,
} from './compiler-settings.ts';
import { installDebianPackages } from '../machine/debian-packages.ts';
import {
  BINARIES,
  type BinaryName,
  binaryOf,
  isLinked,
  LINKED,
  type ProgramName,
  VERSION_FLAGS,
} from './go-binaries.ts';
import { GO_MODULE, layOutGoWorkspace, moduleFolder } from './go-workspace.ts';
import { PROGRAMS_FOLDER } from '../../support/paths.ts';
import { Problem } from '../../support/problem.ts';
import type { Detail, Progress } from '../../support/progress.ts';
import { filesBelow } from '../recipe.ts';
import { run, tryRun } from '../../support/run.ts';
import { VERSIONS } from '../versions.ts';

const machine = thisMachine();

const stampsFolder = join(PROGRAMS_FOLDER, '.stamps');

export const programPath = (name: ProgramName): string => join(PROGRAMS_FOLDER, name);

/** Returns the path of a command line tool that `npm run up` has found on the PATH or put into the cache folder. */
export function toolPath(name: 'helm' | 'kubectl'): string {
  return existsSync(programPath(name)) ? programPath(name) : name;
}

/** Returns a text that changes whenever the built program would change. */
export function programStamp(name: ProgramName): string {
  const binary = BINARIES[binaryOf(name)];
  const hash = createHash('sha256').update(JSON.stringify([binary, VERSION_FLAGS, COMPILER_FLAGS]));
  const own = binary.folder ? [] : ['pruned-modules.ts', 'go-workspace.ts'];
  const folder = binary.folder ? moduleFolder(binary.folder) : GO_MODULE;
  for (const file of [...filesBelow(folder), ...own.map((file) => join(import.meta.dirname, file))]) {
    hash.update(`${relative(folder, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function isCurrent(name: BinaryName): boolean {
  const stamp = join(stampsFolder, name);
  return existsSync(programPath(name)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === programStamp(name);
}

/** Returns whether the cache folder has the current version of a program. */
export const isBuilt = (name: ProgramName): boolean => isCurrent(binaryOf(name));

/** Queued, running and finished builds of this process. */
const builds = new Map<BinaryName, Promise<void>>();
let lastBuild: Promise<void> = Promise.resolve();

/**
 * Builds the programs that are missing from the cache folder or outdated. Their modules are downloaded immediately, while
 * earlier builds compile. Binaries with the same go.mod are built by one call of go, which uses all CPUs while it links.
 * Calls run sequentially, and none starts after one that failed.
 */
export async function buildPrograms(names: readonly ProgramName[], progress: Progress): Promise<void> {
  const wanted = [...new Set(names.map(binaryOf))];
  const unqueued = wanted.filter((name) => !builds.has(name));
  if (unqueued.length > 0) queueBuild(unqueued, progress);
  await Promise.all(wanted.flatMap((name) => builds.get(name) ?? []));
  for (const name of names.filter(isLinked)) linkProgram(name, LINKED[name]);
}

function queueBuild(names: readonly BinaryName[], progress: Progress): void {
  // The workspace is created from these files, which may change until the programs are built.
  const stamps = new Map(names.filter((name) => !isCurrent(name)).map((name) => [name, programStamp(name)]));
  const downloaded = downloadModules([...stamps.keys()], progress);
  const previous = lastBuild;
  const build = Promise.allSettled([downloaded, previous]).then(async () => {
    await Promise.all([downloaded, previous]);
    await buildMissing(stamps, progress);
  });
  lastBuild = build;
  for (const name of names) builds.set(name, build);
  build.catch(() => {
    for (const name of names) builds.delete(name);
    if (lastBuild === build) lastBuild = Promise.resolve();
  });
}

async function buildMissing(stamps: ReadonlyMap<BinaryName, string>, progress: Progress): Promise<void> {
  mkdirSync(stampsFolder, { recursive: true });
  for (const [folder, group] of groupsOf([...stamps.keys()])) {
    await progress.step(`compile ${group.join(', ')}`, (detail) => build(group, folder, detail));
    for (const name of group) writeFileSync(join(stampsFolder, name), stamps.get(name) ?? '');
  }
}

/** Returns binaries by the folder of their go.mod. */
function groupsOf(names: readonly BinaryName[]): Map<string | undefined, BinaryName[]> {
  return Map.groupBy(names, (name) => BINARIES[name].folder);
}

/** Go downloads as many modules at a time as GOMAXPROCS, and each mostly waits for the network. */
const downloadEnvironment = { GOMAXPROCS: '16' };

async function downloadModules(missing: readonly BinaryName[], progress: Progress): Promise<void> {
  if (missing.length > 0) await requireGo(missing);
  for (const [folder, names] of groupsOf(missing)) {
    await progress.step(`download the modules of ${names.join(', ')}`, async (detail) => {
      const cwd = await goFolder(folder);
      const { packages, tags, cgo } = optionsOf(names);
      const env = { ...downloadEnvironment, ...cgo };
      // The template prints nothing, so that only downloads are shown.
      await run('go', ['list', '-deps', '-f', '{{""}}', ...tags, ...packages], { cwd, env, detail, deadline: 1800 });
    });
  }
}

const goFolder = async (folder: string | undefined): Promise<string> =>
  folder === undefined ? layOutGoWorkspace() : moduleFolder(folder);

/** Returns the arguments and the environment that select the packages of binaries, for `go list` and `go build`. */
function optionsOf(names: readonly BinaryName[]): { packages: string[]; tags: string[]; cgo: { CGO_ENABLED: string } } {
  const group = names.map((name) => BINARIES[name]);
  const cTags = group.flatMap((binary) => binary.cTags ?? []);
  const tags = [...cTags, ...group.flatMap((binary) => binary.tags ?? [])];
  return {
    packages: group.map((binary) => binary.package),
    tags: tags.length > 0 ? ['-tags', tags.join(',')] : [],
    cgo: { CGO_ENABLED: cTags.length > 0 ? '1' : '0' },
  };
}

/** Makes a program in the cache folder a link to another, by a path that may be relative to that folder. */
export function linkProgram(name: keyof typeof LINKED, target: string): void {
  mkdirSync(PROGRAMS_FOLDER, { recursive: true });
  rmSync(programPath(name), { force: true });
  symlinkSync(target, programPath(name));
}

async function build(names: readonly BinaryName[], folder: string | undefined, detail: Detail): Promise<void> {
  const group = names.map((name) => BINARIES[name]);
  const { packages, tags, cgo } = optionsOf(names);
  if (cgo.CGO_ENABLED === '1') await installDebianPackages(['gcc', 'libc6-dev'], detail);
  const cwd = await goFolder(folder);
  const flags = ['-s', '-w', VERSION_FLAGS, ...group.flatMap((binary) => binary.linkerFlags ?? [])].join(' ');
  const scratch = mkdtempSync(join(PROGRAMS_FOLDER, '.build-'));
  const args = [
    'build',
    ...concurrencyFlags(machine),
    ...COMPILER_FLAGS,
    '-ldflags',
    flags,
    ...tags,
    '-o',
    `${scratch}/`,
    ...packages,
  ];
  // -v prints each package as it is compiled, which shows progress.
  await run('go', args, { cwd, env: { ...buildEnvironment(machine), ...cgo }, detail, deadline: 3600 });
  const built = new Set(readdirSync(scratch));
  for (const name of names) {
    const output = BINARIES[name].output ?? name;
    if (!built.has(output)) throw new Problem(`go built no program ${output}, only ${[...built].join(', ') || 'none'}`);
    renameSync(join(scratch, output), programPath(name));
  }
  rmSync(scratch, { recursive: true });
}

/** Runs the unit tests of a package of our module, with the flags of the programs, so that they share compiled packages. */
export async function testPackage(name: string, detail: Detail): Promise<void> {
  const cwd = await layOutGoWorkspace();
  const env = { ...memoryEnvironment(machine), CGO_ENABLED: '0' };
  await run('go', ['test', ...COMPILER_FLAGS, name], { cwd, env, detail, deadline: 1200 });
}

async function requireGo(missing: readonly BinaryName[]): Promise<void> {
  const version = await tryRun('go', ['env', 'GOVERSION']);
  const found = /^go1\.(\d+)/.exec(version ?? '')?.[1];
  // From 1.21 on, go downloads the newer toolchain that a module requires.
  if (found !== undefined && Number(found) >= 21) return;
  const kubernetes = VERSIONS.kubernetes.replaceAll(/^v|\.\d+$/g, '');
  const what = missing.includes('host') ? 'kind, kubectl or helm' : missing.join(', ');
  const instead = missing.includes('host')
    ? `, or put kind ${VERSIONS.kind}, kubectl ${kubernetes} and helm 3.14 or later on the PATH`
    : '';
  throw new Problem(
    `${what} must be compiled locally, but there is ${found ? `only Go 1.${found}` : 'no Go'}. ` +
      `Install Go 1.21 or later (https://go.dev/dl)${instead}.`,
  );
}
