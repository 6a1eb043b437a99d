import { VERSIONS } from '../versions.ts';

/** A file that Go links. */
export interface Binary {
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

const definitions = {
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

export type BinaryName = keyof typeof definitions;

/** The programs that are built locally. */
export const BINARIES: Readonly<Record<BinaryName, Binary>> = definitions;

/** Links to a binary, which acts by the name with which it is called. */
export const LINKED = {
  kind: 'host',
  kubectl: 'host',
  helm: 'host',
  ctr: 'node',
  containerd: 'node',
} as const satisfies Record<string, BinaryName>;

export type ProgramName = BinaryName | keyof typeof LINKED;

export const isLinked = (name: ProgramName): name is keyof typeof LINKED => name in LINKED;
export const binaryOf = (name: ProgramName): BinaryName => (isLinked(name) ? LINKED[name] : name);

const [major = '', minor = ''] = VERSIONS.kubernetes.slice(1).split('.');
/** Flags of the linker that set the versions that the programs report. */
export const VERSION_FLAGS = [
  ...['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=${VERSIONS.kubernetes}`,
    `-X ${name}.gitMajor=${major} -X ${name}.gitMinor=${minor} -X ${name}.gitTreeState=clean`,
  ]),
  `-X helm.sh/helm/v4/internal/version.version=${VERSIONS.helm}`,
  `-X github.com/containerd/containerd/v2/version.Version=${VERSIONS.containerd}`,
  `-X github.com/traefik/traefik/v3/pkg/version.Version=${VERSIONS.traefik}`,
].join(' ');
