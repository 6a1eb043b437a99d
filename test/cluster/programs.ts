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
import { availableParallelism, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { installDebianPackages } from './debian-packages.ts';
import { GO_MODULE, layOutGoWorkspace } from './go-workspace.ts';
import { PROGRAMS_FOLDER } from './paths.ts';
import { Problem } from './problem.ts';
import type { Detail, Progress } from './progress.ts';
import { filesBelow } from './recipe.ts';
import { run, tryRun } from './run.ts';
import { VERSIONS } from './versions.ts';

/** A file that Go links. */
interface Binary {
  /** The linked package, as named in the binary's go.mod. */
  package: string;
  /**
   * Folder below go-modules/ with a separate go.mod; by default binaries share one, so that they share compiled
   * packages.
   */
  folder?: string;
  /** The file that go writes, if it has another name than the program. */
  output?: string;
  linkerFlags?: string;
  tags?: string[];
  /**
   * Build tags of a program with parts in C, which is linked statically, because the images have another C library than
   * this machine.
   */
  cTags?: string[];
}

const giteaSettings = `-X main.Version=${VERSIONS.gitea} -X code.gitea.io/gitea/modules/setting.StaticRootPath=/app/gitea`;

/** Compose asks buildx for its version. */
const pluginVersions = [
  `-X github.com/docker/compose/v2/internal.Version=${VERSIONS.dockerCompose}`,
  `-X github.com/docker/buildx/version.Version=${VERSIONS.dockerBuildx}`,
].join(' ');

const binaries = {
  /** The command line tools for scripts and their users. */
  host: { package: './host' },
  /**
   * Everything in the node and the control plane except the shims: one program, which acts by the name with which it is
   * called.
   */
  node: { package: './node' },
  'containerd-shim-runc-v2': { package: 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2' },
  registry: { package: './registry' },
  rootlesskit: { package: 'github.com/rootless-containers/rootlesskit/v2/cmd/rootlesskit' },
  buildkitd: { package: 'github.com/moby/buildkit/cmd/buildkitd' },
  buildctl: { package: 'github.com/moby/buildkit/cmd/buildctl' },
  traefik: { package: 'github.com/traefik/traefik/v3/cmd/traefik' },
  gitea: {
    package: 'code.gitea.io/gitea',
    folder: 'gitea',
    linkerFlags: `-linkmode external -extldflags -static ${giteaSettings}`,
    cTags: ['sqlite', 'sqlite_unlock_notify', 'sqlite_omit_load_extension', 'netgo', 'osusergo'],
  },
  'metrics-server': { package: 'sigs.k8s.io/metrics-server/cmd/metrics-server', folder: 'metrics-server' },
  /** Used only by `npm run test:full`; without the cloud libraries for service discovery. */
  promtool: { package: 'github.com/prometheus/prometheus/cmd/promtool', folder: 'promtool', tags: ['remove_all_sd'] },
  /** Used only by `npm run release`, where there is no other one. */
  cosign: { package: 'github.com/sigstore/cosign/v3/cmd/cosign', folder: 'cosign' },
  /** Used only by `npm run scan`, where there is no other one. */
  'osv-scanner': { package: 'github.com/google/osv-scanner/v2/cmd/osv-scanner', folder: 'osv-scanner' },
  /** Plugins of the Docker client, used only by `npm run bench -- applications`, where there are no other ones. */
  'docker-compose': {
    package: 'github.com/docker/compose/v2/cmd',
    folder: 'compose',
    output: 'cmd',
    linkerFlags: pluginVersions,
  },
  'docker-buildx': {
    package: 'github.com/docker/buildx/cmd/buildx',
    folder: 'compose',
    output: 'buildx',
    linkerFlags: pluginVersions,
  },
  /** Used only by `npm run test:full`: Kubernetes' suite for NetworkPolicies, and the program of its pods. */
  'network-policy-suite': { package: './network-policy-suite', folder: 'network-policy-conformance' },
  agnhost: { package: './agnhost', folder: 'network-policy-conformance' },
} satisfies Record<string, Binary>;

type BinaryName = keyof typeof binaries;

/** Links to a binary, which acts by the name with which it is called. */
const linked = {
  kind: 'host',
  kubectl: 'host',
  helm: 'host',
  ctr: 'node',
  containerd: 'node',
} as const satisfies Record<string, BinaryName>;

export type ProgramName = BinaryName | keyof typeof linked;

const isLinked = (name: ProgramName): name is keyof typeof linked => name in linked;
const binaryOf = (name: ProgramName): BinaryName => (isLinked(name) ? linked[name] : name);

const [major = '', minor = ''] = VERSIONS.kubernetes.slice(1).split('.');
const versionFlags = [
  ...['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=${VERSIONS.kubernetes}`,
    `-X ${name}.gitMajor=${major} -X ${name}.gitMinor=${minor} -X ${name}.gitTreeState=clean`,
  ]),
  `-X helm.sh/helm/v4/internal/version.version=${VERSIONS.helm}`,
  `-X github.com/containerd/containerd/v2/version.Version=${VERSIONS.containerd}`,
  `-X github.com/traefik/traefik/v3/pkg/version.Version=${VERSIONS.traefik}`,
].join(' ');

/** Omits symbols and DWARF, which take an eighth of the compile time and are used only for debugging. */
const compilerFlags = ['-v', '-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false'];
const maxCompilers = availableParallelism() + 1;
const GIBIBYTE = 2 ** 30;
const availableMemory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
/** In bytes. `go` runs beside the compilers, with the same limit, and half of the memory is for other programs. */
const maxMemoryOfEach = Math.floor(availableMemory / 2 / (maxCompilers + 1));
/**
 * The compiler's processes are short: without garbage collection they save a sixth of the processor time. With a limit
 * below what the linker needs, Go would collect garbage continuously.
 */
const compilerEnvironment: Record<string, string> =
  maxMemoryOfEach >= GIBIBYTE ? { GOGC: 'off', GOMEMLIMIT: String(maxMemoryOfEach) } : { GOGC: '400' };
/** With few processors, one thread for each of several compilers takes less processor time than more threads. */
const buildEnvironment = { ...compilerEnvironment, ...(availableParallelism() <= 4 && { GOMAXPROCS: '1' }) };
const concurrentCompilers = ['-p', String(maxCompilers)];

const moduleFolder = (name: string): string => join(import.meta.dirname, 'go-modules', name);
const stampsFolder = join(PROGRAMS_FOLDER, '.stamps');

export const programPath = (name: ProgramName): string => join(PROGRAMS_FOLDER, name);

/** Returns a text that changes whenever the built program would change. */
export function programStamp(name: ProgramName): string {
  const binary: Binary = binaries[binaryOf(name)];
  const hash = createHash('sha256').update(JSON.stringify([binary, versionFlags, compilerFlags]));
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
  for (const name of names.filter(isLinked)) link(name);
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
  return Map.groupBy(names, (name) => (binaries[name] as Binary).folder);
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
  const group = names.map((name): Binary => binaries[name]);
  const cTags = group.flatMap((binary) => binary.cTags ?? []);
  const tags = [...cTags, ...group.flatMap((binary) => binary.tags ?? [])];
  return {
    packages: group.map((binary) => binary.package),
    tags: tags.length > 0 ? ['-tags', tags.join(',')] : [],
    cgo: { CGO_ENABLED: cTags.length > 0 ? '1' : '0' },
  };
}

function link(name: keyof typeof linked): void {
  rmSync(programPath(name), { force: true });
  symlinkSync(linked[name], programPath(name));
}

async function build(names: readonly BinaryName[], folder: string | undefined, detail: Detail): Promise<void> {
  const group = names.map((name): Binary => binaries[name]);
  const { packages, tags, cgo } = optionsOf(names);
  if (cgo.CGO_ENABLED === '1') await installDebianPackages(['gcc', 'libc6-dev'], detail);
  const cwd = await goFolder(folder);
  const flags = ['-s', '-w', versionFlags, ...group.flatMap((binary) => binary.linkerFlags ?? [])].join(' ');
  const scratch = mkdtempSync(join(PROGRAMS_FOLDER, '.build-'));
  const args = [
    'build',
    ...concurrentCompilers,
    ...compilerFlags,
    '-ldflags',
    flags,
    ...tags,
    '-o',
    `${scratch}/`,
    ...packages,
  ];
  // -v prints each package as it is compiled, which shows progress.
  await run('go', args, { cwd, env: { ...buildEnvironment, ...cgo }, detail, deadline: 3600 });
  const built = new Set(readdirSync(scratch));
  for (const name of names) {
    const output = (binaries[name] as Binary).output ?? name;
    if (!built.has(output)) throw new Problem(`go built no program ${output}, only ${[...built].join(', ') || 'none'}`);
    renameSync(join(scratch, output), programPath(name));
  }
  rmSync(scratch, { recursive: true });
}

/** Runs the unit tests of a package of our module, with the flags of the programs, so that they share compiled packages. */
export async function testPackage(name: string, detail: Detail): Promise<void> {
  const cwd = await layOutGoWorkspace();
  const env = { ...compilerEnvironment, CGO_ENABLED: '0' };
  await run('go', ['test', ...compilerFlags, name], { cwd, env, detail, deadline: 1200 });
}

async function requireGo(missing: readonly BinaryName[]): Promise<void> {
  const version = await tryRun('go', ['env', 'GOVERSION']);
  const found = /^go1\.(\d+)/.exec(version ?? '')?.[1];
  // From 1.21 on, go downloads the newer toolchain that a module requires.
  if (found !== undefined && Number(found) >= 21) return;
  const what = missing.includes('host') ? 'kind, kubectl or helm' : missing.join(', ');
  const instead = missing.includes('host')
    ? `, or put kind ${VERSIONS.kind}, kubectl 1.${minor} and helm 3.14 or later on the PATH`
    : '';
  throw new Problem(
    `${what} must be compiled locally, but there is ${found ? `only Go 1.${found}` : 'no Go'}. ` +
      `Install Go 1.21 or later (https://go.dev/dl)${instead}.`,
  );
}
