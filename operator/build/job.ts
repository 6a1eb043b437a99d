import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { Job } from '../../kubernetes/resource-type.ts';
import type { BuilderEndpoint } from '../builders/pool.ts';
import { runsOnce } from '../pod-parts.ts';
import { scheduled, type Scheduling } from '../scheduling.ts';
import { buildctlContainer, cloneContainer, secretFiles } from './job-containers.ts';
import { recordBuild, RECORD_ANNOTATION, type ResolvedBuild, type ResolvedImage } from './resolved-build.ts';

/** What every build Job of this installation shares. */
export interface BuildJobSettings {
  /** Coppice's own image: it holds git and clone.sh. */
  cloneImage: string;
  /** An image with buildctl, a shell and flock. */
  buildctlImage: string;
  /** Variables that name an HTTP proxy, for build steps: no part of an image or of its address. */
  proxy?: Readonly<Record<string, string>> | undefined;
  /** Whether the registry speaks plain HTTP. */
  registryInsecure: boolean;
  /** Where a clone may go for submodules and large files, as for the repository itself. */
  sources: { allowedCidrs: readonly string[]; ports: readonly number[]; sshPorts: readonly number[] };
  deadlineSeconds: number;
  /** Where its pod runs. */
  scheduling?: Scheduling;
}

export interface BuildJobInput {
  namespace: string;
  labels: Record<string, string>;
  number: number;
  /** 0 at first; a build whose machinery failed is tried again. */
  attempt: number;
  /** Of the REST request that asked for the build. */
  requestId?: string | undefined;
  origin: string;
  /** The full ref name, `refs/heads/…`. */
  ref: string;
  commit: string;
  /** All images of the build; a Job that goes on for another one goes by them. */
  build: ResolvedBuild;
  /** What is not in the registry yet; at least one. */
  missing: readonly ResolvedImage[];
  /** Whether the build's secrets are handed to it. */
  trusted: boolean;
  noCache: boolean;
  /** The buildkitd that builds. */
  builder: Pick<BuilderEndpoint, 'address' | 'serverName'>;
  /** Cache mounts of builds are shared within this, and with nothing else. */
  cacheNamespace: string;
  now: Date;
  settings: BuildJobSettings;
}

/** The Secrets that the Job mounts; the operator puts them beside it. */
export const SOURCE_CREDENTIALS = 'build-source';
export const BUILD_CREDENTIALS = 'build-credentials';

/** The name is the build's number and try: the same build makes the same Job, however often it is asked for. */
export function buildJobName(number: number, attempt: number): string {
  return attempt === 0 ? `build-${number}` : `build-${number}-retry-${attempt}`;
}

/** One Job for one build: a clone, and one buildctl for each image, side by side; these wait for the clone. */
export function buildJob(input: BuildJobInput): Job {
  const labels = {
    ...input.labels,
    [LABELS.managedBy]: MANAGED_BY,
    [LABELS.build]: String(input.number),
    ...(!input.trusted && { [LABELS.untrusted]: 'true' }),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: buildJobName(input.number, input.attempt),
      namespace: input.namespace,
      labels,
      annotations: {
        [RECORD_ANNOTATION]: recordBuild(input.build),
        ...(input.requestId !== undefined && { [ANNOTATIONS.requestId]: input.requestId }),
      },
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: input.settings.deadlineSeconds,
      ttlSecondsAfterFinished: 3600,
      template: {
        metadata: { labels },
        spec: {
          ...runsOnce,
          ...scheduled(input.settings.scheduling),
          terminationGracePeriodSeconds: 5,
          securityContext: {
            runAsUser: 1000,
            runAsGroup: 1000,
            runAsNonRoot: true,
            fsGroup: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            cloneContainer(input),
            ...input.missing.map((image, index) => buildctlContainer(image, index, input)),
          ],
          volumes: [
            { name: 'workspace', emptyDir: { sizeLimit: '4Gi' } },
            { name: 'clone-tmp', emptyDir: { sizeLimit: '1Gi' } },
            { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
            { name: 'source', secret: { secretName: SOURCE_CREDENTIALS, defaultMode: 0o440 } },
            { name: 'builder', secret: { secretName: BUILD_CREDENTIALS, defaultMode: 0o440 } },
            ...input.missing
              .flatMap(({ image }, index) => secretFiles(image, index, input))
              .map(({ volume }) => volume),
          ],
        },
      },
    },
  };
}
