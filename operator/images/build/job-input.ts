import type { BuilderEndpoint } from '../builders/pool.ts';
import type { Scheduling } from '../../shared/scheduling.ts';
import type { ResolvedBuild, ResolvedImage } from './resolved-build.ts';

/** Settings that all build Jobs of this installation share. */
export interface BuildJobSettings {
  /** Coppice's own image, which contains git and clone.sh. */
  cloneImage: string;
  /** An image with buildctl, a shell and flock. */
  buildctlImage: string;
  /** Proxy variables for build steps; not part of an image or of its address. */
  proxy?: Readonly<Record<string, string>> | undefined;
  /** Additional certificate authorities (PEM), for the registry's token server: buildctl requests the tokens. */
  caCertificates?: string | undefined;
  /** Whether the registry speaks plain HTTP. */
  registryInsecure: boolean;
  /** Networks and ports that a clone can reach for submodules and large files, as for the repository itself. */
  sources: { allowedCidrs: readonly string[]; ports: readonly number[]; sshPorts: readonly number[] };
  deadlineSeconds: number;
  /** Scheduling of its pod. */
  scheduling?: Scheduling;
}

/** The clone of one repository, in a container of its own. */
export interface CloneInput {
  /** Name of the included Repository; undefined for the environment's own. */
  included: string | undefined;
  origin: string;
  /** The full ref name, `refs/heads/…`. */
  ref: string;
  commit: string;
  /** Names of the files with its credentials. */
  files: readonly string[];
}

export interface BuildJobInput {
  namespace: string;
  labels: Record<string, string>;
  number: number;
  /** 0 for the first try; a build is retried after an infrastructure failure. */
  attempt: number;
  /** ID of the REST request that started the build. */
  requestId?: string | undefined;
  /** Those that the missing images need. */
  clones: readonly CloneInput[];
  /** All images of the build; a Job that continues for another build is matched by them. */
  build: ResolvedBuild;
  /** Images that are not in the registry yet; at least one. */
  missing: readonly ResolvedImage[];
  /** Whether the build receives its secrets. */
  trusted: boolean;
  noCache: boolean;
  /** The buildkitd that builds the images. */
  builder: Pick<BuilderEndpoint, 'address' | 'serverName'>;
  /** Returns the namespace within which builds of a repository share cache mounts; `included` as in CloneInput. */
  cacheNamespace: (included: string | undefined) => string;
  /** ID of this installation, by which it recognizes its images. */
  installation: string;
  now: Date;
  settings: BuildJobSettings;
}
