import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { installDebianPackages } from './debian-packages.ts';
import { programsFolder } from './paths.ts';
import { Problem } from './problem.ts';
import type { Progress } from './progress.ts';
import { run, tryRun } from './run.ts';
import { versions } from './versions.ts';

/** A program that is built from a Go module: from a go.mod of ours (folder), or as `go install package@version`. */
interface Program {
  package: string;
  folder?: string;
  version?: string;
  linkerFlags?: string;
  tags?: string[];
  /** Build tags of a program that has parts in C. It is linked statically: the images have another C library than this machine. */
  cTags?: string[];
  /** How long the first build takes on two cores, told when it is long. */
  minutes?: number;
}

const [major, minor] = versions.kubernetes.slice(1).split('.');
const kubernetesVersion = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
  .flatMap((name) => [
    `-X ${name}.gitVersion=${versions.kubernetes}`,
    `-X ${name}.gitMajor=${major} -X ${name}.gitMinor=${minor} -X ${name}.gitTreeState=clean`,
  ])
  .join(' ');

const giteaSettings = `-X main.Version=${versions.gitea} -X code.gitea.io/gitea/modules/setting.StaticRootPath=/app/gitea`;

const programs = {
  kind: { package: 'sigs.k8s.io/kind', version: versions.kind },
  kubectl: { package: 'k8s.io/kubernetes/cmd/kubectl', folder: 'kubernetes-commands', linkerFlags: kubernetesVersion },
  helm: { package: 'helm.sh/helm/v4/cmd/helm', version: versions.helm, minutes: 2 },
  kubeadm: { package: 'k8s.io/kubernetes/cmd/kubeadm', folder: 'kubernetes-commands', linkerFlags: kubernetesVersion },
  /** kube-apiserver, -controller-manager, -scheduler, kube-proxy and kubelet: one program, known by the name it is called by. */
  'kubernetes-components': {
    package: '.',
    folder: 'kubernetes-components',
    linkerFlags: kubernetesVersion,
    minutes: 10,
  },
  etcd: { package: '.', folder: 'etcd' },
  crictl: { package: 'sigs.k8s.io/cri-tools/cmd/crictl', folder: 'crictl' },
  containerd: {
    package: 'github.com/containerd/containerd/v2/cmd/containerd',
    version: versions.containerd,
    minutes: 2,
  },
  'containerd-shim-runc-v2': {
    package: 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
    version: versions.containerd,
  },
  ctr: { package: 'github.com/containerd/containerd/v2/cmd/ctr', version: versions.containerd },
  coredns: { package: 'github.com/coredns/coredns', version: versions.coredns, minutes: 4 },
  'local-path-provisioner': {
    package: 'github.com/rancher/local-path-provisioner',
    version: versions.localPathProvisioner,
  },
  registry: { package: 'github.com/distribution/distribution/v3/cmd/registry', version: versions.registry },
  rootlesskit: {
    package: 'github.com/rootless-containers/rootlesskit/v2/cmd/rootlesskit',
    version: versions.rootlesskit,
  },
  buildkitd: { package: 'github.com/moby/buildkit/cmd/buildkitd', folder: 'buildkit', minutes: 2 },
  buildctl: { package: 'github.com/moby/buildkit/cmd/buildctl', folder: 'buildkit' },
  traefik: { package: 'github.com/traefik/traefik/v3/cmd/traefik', folder: 'traefik', minutes: 6 },
  gitea: {
    package: 'code.gitea.io/gitea',
    folder: 'gitea',
    linkerFlags: `-linkmode external -extldflags -static ${giteaSettings}`,
    cTags: ['sqlite', 'sqlite_unlock_notify', 'sqlite_omit_load_extension', 'netgo', 'osusergo'],
    minutes: 5,
  },
  /** For `npm run test:full` alone; without the clouds' libraries, which find what is to be scraped. */
  promtool: {
    package: 'github.com/prometheus/prometheus/cmd/promtool',
    folder: 'promtool',
    tags: ['remove_all_sd'],
    minutes: 5,
  },
} satisfies Record<string, Program>;

export type ProgramName = keyof typeof programs;

const linkerFlags = (program: Program): string => `-s -w ${program.linkerFlags ?? ''}`.trim();
const tagsOf = ({ tags = [], cTags = [] }: Program): string[] => [...tags, ...cTags];
const moduleFolder = (name: string): string => join(import.meta.dirname, 'go-modules', name);

export const programPath = (name: ProgramName): string => join(programsFolder, name);

const downloadSchema = z.object({ Dir: z.string() });

/** The folder that Go unpacked a module into, which a go.mod of ours requires. */
export async function moduleSources(folder: string, module: string): Promise<string> {
  const options = { cwd: moduleFolder(folder), deadline: 600 };
  return downloadSchema.parse(JSON.parse(await run('go', ['mod', 'download', '-json', module], options))).Dir;
}

/** Changes whenever the program that a build would give changes. */
export function programStamp(name: ProgramName): string {
  const program: Program = programs[name];
  const hash = createHash('sha256').update(
    JSON.stringify([program.package, program.version, linkerFlags(program), ...tagsOf(program)]),
  );
  if (program.folder) {
    const folder = moduleFolder(program.folder);
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex');
}

/** Builds those of the programs that are missing from the cache folder, or are of another version; each as a step. */
export async function buildPrograms(names: readonly ProgramName[], progress: Progress): Promise<void> {
  const stamps = join(programsFolder, '.stamps');
  for (const name of names) {
    const program: Program = programs[name];
    const stamp = programStamp(name);
    const stampFile = join(stamps, name);
    if (existsSync(programPath(name)) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) continue;
    await requireGo(name);
    mkdirSync(stamps, { recursive: true });
    const time = program.minutes ? `, about ${program.minutes} min the first time` : '';
    await progress.step(`build ${name} from its Go module${time}`, async (detail) => {
      // -v names each package as it is compiled, so the progress shows that something moves.
      const flags = ['-v', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(program)];
      if (tagsOf(program).length > 0) flags.push('-tags', tagsOf(program).join(','));
      if (program.cTags) await installDebianPackages(['gcc', 'libc6-dev'], detail);
      const env = { CGO_ENABLED: program.cTags ? '1' : '0' };
      const scratch = mkdtempSync(join(programsFolder, '.build-'));
      if (program.folder) {
        const args = ['build', ...flags, '-o', `${scratch}/`, program.package];
        await run('go', args, { cwd: moduleFolder(program.folder), env, detail, deadline: 3600 });
      } else {
        const args = ['install', ...flags, `${program.package}@${program.version ?? ''}`];
        await run('go', args, { env: { ...env, GOBIN: scratch }, detail, deadline: 3600 });
      }
      const [built] = readdirSync(scratch);
      if (!built) throw new Problem(`go made no program of ${program.package}`);
      renameSync(join(scratch, built), programPath(name));
      rmSync(scratch, { recursive: true });
      writeFileSync(stampFile, stamp);
    });
  }
}

async function requireGo(name: ProgramName): Promise<void> {
  const version = await tryRun('go', ['env', 'GOVERSION']);
  const found = /^go1\.(\d+)/.exec(version ?? '')?.[1];
  // From 1.21 on, go fetches the newer toolchain that a module asks for.
  if (found !== undefined && Number(found) >= 21) return;
  const ready: Partial<Record<ProgramName, string>> = {
    kind: versions.kind,
    kubectl: `1.${minor ?? ''}`,
    helm: '3.14 or later',
  };
  const instead = ready[name] ? `, or put ${name} ${ready[name]} on the PATH` : '';
  throw new Problem(
    `${name} has to be built here and there is ${found ? `only Go 1.${found}` : 'no Go'}: install Go 1.21 or later ` +
      `(https://go.dev/dl)${instead}.`,
  );
}
