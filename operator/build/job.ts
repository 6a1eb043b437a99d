import { posix } from 'node:path';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { Job } from '../../kubernetes/resource-type.ts';
import { literal } from '../literal.ts';
import type { PlannedImage } from './plan.ts';

/** What every build Job of this installation shares. */
export interface BuilderSettings {
  /** Coppice's own image: it holds git and clone.sh. */
  cloneImage: string;
  /** An image with buildctl. */
  buildctlImage: string;
  /** `tcp://host:port` of buildkitd. */
  buildkitdAddress: string;
  /** Whether the registry speaks plain HTTP. */
  registryInsecure: boolean;
  deadlineSeconds: number;
}

export interface BuildJobInput {
  namespace: string;
  labels: Record<string, string>;
  number: number;
  origin: string;
  /** The full ref name, `refs/heads/…`. */
  ref: string;
  commit: string;
  /** What is not in the registry yet; at least one. */
  images: { image: PlannedImage; reference: string }[];
  /** Cache mounts of builds are shared within this, and with nothing else. */
  cacheNamespace: string;
  settings: BuilderSettings;
}

/** The Secrets that the Job mounts; the operator puts them beside it. */
export const SOURCE_SECRET = 'build-source';
export const BUILDER_SECRET = 'build-credentials';
export const CLONE_CONTAINER = 'clone';

const workspace = '/workspace';
const credentials = '/credentials';

/** The name is the build's number: the same build makes the same Job, however often it is asked for. */
export function buildJobName(number: number): string {
  return `build-${number}`;
}

/** A service's container; the prefix keeps it apart from `clone`, whatever the service is called. */
function buildContainerName(service: string): string {
  return `build-${service}`;
}

/** One Job for one build: a clone, then one buildctl for each image side by side. */
export function buildJob(input: BuildJobInput): Job {
  const labels = { ...input.labels, [LABELS.managedBy]: MANAGED_BY, [LABELS.build]: String(input.number) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: buildJobName(input.number), namespace: input.namespace, labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: input.settings.deadlineSeconds,
      ttlSecondsAfterFinished: 3600,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 5,
          securityContext: {
            runAsUser: 1000,
            runAsGroup: 1000,
            runAsNonRoot: true,
            fsGroup: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          initContainers: [cloneContainer(input)],
          containers: input.images.map(({ image, reference }) => buildctlContainer(image, reference, input)),
          volumes: [
            { name: 'workspace', emptyDir: { sizeLimit: '4Gi' } },
            { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
            { name: 'source', secret: { secretName: SOURCE_SECRET, defaultMode: 0o440 } },
            { name: 'builder', secret: { secretName: BUILDER_SECRET, defaultMode: 0o440 } },
          ],
        },
      },
    },
  };
}

const confined = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const resources = { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '2', memory: '512Mi' } };

type Container = NonNullable<NonNullable<NonNullable<Job['spec']>['template']['spec']>['containers'][number]>;

function cloneContainer({ origin, ref, commit, settings }: BuildJobInput): Container {
  return {
    name: CLONE_CONTAINER,
    image: settings.cloneImage,
    command: ['/bin/sh', '/app/operator/build/clone.sh'],
    env: [
      { name: 'ORIGIN', value: literal(origin) },
      { name: 'REF', value: literal(ref) },
      { name: 'COMMIT', value: commit },
      { name: 'WORKSPACE', value: `${workspace}/source` },
      { name: 'GIT_CONFIG_GLOBAL', value: `${credentials}/gitconfig` },
    ],
    volumeMounts: [
      { name: 'workspace', mountPath: workspace },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'source', mountPath: credentials, readOnly: true },
    ],
    securityContext: confined,
    resources,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

function buildctlContainer(
  image: PlannedImage,
  reference: string,
  { settings, cacheNamespace }: BuildJobInput,
): Container {
  const path = (relative: string) => posix.join(workspace, 'source', relative);
  return {
    name: buildContainerName(image.service),
    image: settings.buildctlImage,
    command: ['buildctl'],
    args: [
      `--addr=${settings.buildkitdAddress}`,
      `--tlscacert=${credentials}/ca.crt`,
      `--tlscert=${credentials}/tls.crt`,
      `--tlskey=${credentials}/tls.key`,
      'build',
      '--progress=plain',
      '--frontend=dockerfile.v0',
      `--local=context=${path(image.context)}`,
      `--local=dockerfile=${path(posix.dirname(image.dockerfile))}`,
      `--opt=filename=${posix.basename(image.dockerfile)}`,
      ...(image.target === undefined ? [] : [`--opt=target=${image.target}`]),
      ...Object.entries(image.args).map(([name, value]) => `--opt=build-arg:${name}=${value}`),
      // Cache mounts are shared by their ids: each repository has a namespace of its own for them. After the service
      // file's arguments, so that none of those takes its place.
      `--opt=build-arg:BUILDKIT_CACHE_MOUNT_NS=${cacheNamespace}`,
      `--source-policy-file=${credentials}/source-policy.json`,
      `--output=type=image,name=${reference},push=true,registry.insecure=${settings.registryInsecure}`,
    ].map(literal),
    env: [
      { name: 'DOCKER_CONFIG', value: credentials },
      { name: 'HOME', value: '/tmp' },
    ],
    volumeMounts: [
      { name: 'workspace', mountPath: workspace, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'builder', mountPath: credentials, readOnly: true },
    ],
    securityContext: confined,
    resources,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}
