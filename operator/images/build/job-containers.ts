import { posix } from 'node:path';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { literal } from '../../shared/literal.ts';
import { confined } from '../../shared/pod-parts.ts';
import { GIT_CONFIG_FILE } from '../../source/git/git-files.ts';
import { AFTER_CLONE } from './after-clone.ts';
import { buildArguments } from './build-arguments.ts';
import type { BuildJobInput, BuildJobSettings, CloneInput } from './job-input.ts';
import type { PlannedImage } from '../plan/image-plan.ts';
import type { ResolvedImage } from './resolved-build.ts';

/** Secrets that the Job uses; the operator creates them with it. */
export const SOURCE_CREDENTIALS = 'build-source';
export const BUILD_CREDENTIALS = 'build-credentials';

/** Where each container finds its own credentials. */
export const CREDENTIALS_FOLDER = '/credentials';

const authoritiesFile = 'authorities.crt';

/** Returns the additional certificate authorities that a buildctl container finds in its credentials folder. */
export function authorityFiles({ caCertificates }: Pick<BuildJobSettings, 'caCertificates'>): {
  key: string;
  value: string;
}[] {
  return caCertificates === undefined ? [] : [{ key: authoritiesFile, value: caCertificates }];
}

/** Annotation of a manifest with the time when Coppice built it. An image without it is never deleted. */
export const BUILT_ANNOTATION = 'dev.coppice.built';

/** Annotation of a manifest with the ID of the installation that built it. */
export const INSTALLATION_ANNOTATION = 'dev.coppice.installation';

/**
 * Names of the containers; the prefix separates a service called `clone`, and allows service names of 63 characters.
 */
const clone = 'clone';
const prefix = 'build-';
const workspace = '/workspace';
const source = `${workspace}/source`;
const secretsFolder = '/build-secrets';

/** Returns a container's role in a build; the service is empty for the clone. */
export function roleOf(container: string): { service: string; stage: string } {
  if (container === clone || container.startsWith(`${clone}-`)) return { service: '', stage: clone };
  return { service: container.startsWith(prefix) ? container.slice(prefix.length) : '', stage: 'build' };
}

const resources = { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '2', memory: '512Mi' } };

type PodSpec = NonNullable<Pod['spec']>;
type Container = PodSpec['containers'][number];

/** Returns the key of a file with credentials in the Secret of all clones. `included`: as in CloneInput. */
export function sourceKey(included: string | undefined, file: string): string {
  return included === undefined ? file : `${included}.${file}`;
}

/** Returns a name for the clone at this position in the Job; the first one has the plain name. */
function numbered(name: string, index: number): string {
  return index === 0 ? name : `${name}-${index}`;
}

/** Returns the container that fetches the files of one repository that the builds need; `index` is its position in the Job. */
export function cloneContainer(
  { included, origin, ref, commit }: CloneInput,
  index: number,
  { missing, trusted, settings }: BuildJobInput,
): Container {
  const images = missing.map(({ image }) => image).filter((image) => image.included === included);
  // In the format of operator/images/clone/complete.ts.
  const completing = {
    ...settings.sources,
    trusted,
    folders: images.map(({ context }) => context),
    files: images.map(({ dockerfile }) => dockerfile),
  };
  return {
    name: numbered(clone, index),
    image: settings.cloneImage,
    command: ['/bin/sh', '/app/operator/images/clone/clone.sh'],
    env: [
      { name: 'ORIGIN', value: literal(origin) },
      { name: 'REF', value: literal(ref) },
      { name: 'COMMIT', value: commit },
      ...(included === undefined ? [] : [{ name: 'INCLUDED', value: included }]),
      { name: 'WORKSPACE', value: source },
      { name: 'GIT_CONFIG_GLOBAL', value: `${CREDENTIALS_FOLDER}/${GIT_CONFIG_FILE}` },
      { name: 'CLONE_SETTINGS', value: literal(JSON.stringify(completing)) },
    ],
    volumeMounts: [
      { name: numbered('workspace', index), mountPath: workspace },
      { name: numbered('clone-tmp', index), mountPath: '/tmp' },
      { name: numbered('source', index), mountPath: CREDENTIALS_FOLDER, readOnly: true },
    ],
    securityContext: confined(),
    resources,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** Returns the volumes of one clone: its files are seen by its own builds only, and its credentials by nothing else. */
export function cloneVolumes({ included, files }: CloneInput, index: number): NonNullable<PodSpec['volumes']> {
  const items = files.map((file) => ({ key: sourceKey(included, file), path: file }));
  return [
    { name: numbered('workspace', index), emptyDir: { sizeLimit: '4Gi' } },
    { name: numbered('clone-tmp', index), emptyDir: { sizeLimit: '1Gi' } },
    {
      name: numbered('source', index),
      secret: { secretName: SOURCE_CREDENTIALS, defaultMode: 0o440, items },
    },
  ];
}

/** Returns the container that builds and pushes one image after the clone; `index` is its position in the Job. */
export function buildctlContainer({ image, reference }: ResolvedImage, index: number, input: BuildJobInput): Container {
  const { settings, builder, cacheNamespace, noCache, installation, now, trusted, clones } = input;
  const cloned = clones.findIndex(({ included }) => included === image.included);
  const path = (relative: string) => posix.join(source, relative);
  const secrets = secretFiles(image, index, input);
  const given = buildArguments(image, input);
  const output = [
    'type=image',
    `name=${reference}`,
    'push=true',
    `registry.insecure=${settings.registryInsecure}`,
    // Takes a fifth of the processor time of gzip, and less than half when a node unpacks it; only OCI media types permit it.
    'oci-mediatypes=true',
    'compression=zstd',
    `annotation.${BUILT_ANNOTATION}=${now.toISOString()}`,
    `annotation.${INSTALLATION_ANNOTATION}=${installation}`,
  ];
  return {
    name: `${prefix}${image.service}`,
    image: settings.buildctlImage,
    command: ['/bin/sh', '-c', AFTER_CLONE, 'sh', 'buildctl'],
    args: [
      ...[
        `--addr=${builder.address}`,
        `--tlsservername=${builder.serverName}`,
        `--tlscacert=${CREDENTIALS_FOLDER}/ca.crt`,
        `--tlscert=${CREDENTIALS_FOLDER}/tls.crt`,
        `--tlskey=${CREDENTIALS_FOLDER}/tls.key`,
        'build',
        '--progress=plain',
        '--frontend=dockerfile.v0',
        `--local=context=${path(image.context)}`,
        `--local=dockerfile=${path(posix.dirname(image.dockerfile))}`,
        `--opt=filename=${posix.basename(image.dockerfile)}`,
        ...frontendOf(image, trusted),
        ...(image.target === undefined ? [] : [`--opt=target=${image.target}`]),
        ...(image.platform === undefined ? [] : [`--opt=platform=${image.platform}`]),
      ].map(literal),
      ...given.map(({ name, variable }) => `${literal(`--opt=build-arg:${name}=`)}$(${variable})`),
      ...[
        // Cache mounts are shared by ID, so each repository has its own namespace for them. After the service file's arguments,
        // which must not override it.
        `--opt=build-arg:BUILDKIT_CACHE_MOUNT_NS=${cacheNamespace(image.included)}`,
        // An index of images has no annotations, by which the collector recognizes what it may delete.
        '--opt=build-arg:BUILDKIT_MULTI_PLATFORM=false',
        ...secrets.map(({ id, file }) => `--secret=${csvOf(`id=${id}`, `src=${file}`)}`),
        ...(noCache ? ['--no-cache'] : []),
        `--source-policy-file=${CREDENTIALS_FOLDER}/source-policy.json`,
        `--output=${output.join(',')}`,
      ].map(literal),
    ],
    env: [
      { name: 'DOCKER_CONFIG', value: CREDENTIALS_FOLDER },
      { name: 'HOME', value: '/tmp' },
      { name: 'WORKSPACE', value: source },
      ...given.map(({ variable: name, key }) => ({
        name,
        valueFrom: { secretKeyRef: { name: BUILD_CREDENTIALS, key } },
      })),
      // Go reads the system's authorities from their folder in addition to this file.
      ...authorityFiles(settings).map(({ key }) => ({ name: 'SSL_CERT_FILE', value: `${CREDENTIALS_FOLDER}/${key}` })),
    ],
    volumeMounts: [
      { name: numbered('workspace', cloned), mountPath: workspace, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'builder', mountPath: CREDENTIALS_FOLDER, readOnly: true },
      ...secrets.map(({ mount }) => mount),
    ],
    securityContext: confined(),
    resources,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/**
 * Returns the arguments that select the frontend. With `cmdline` buildkitd reads the Dockerfile itself and ignores `#
 * syntax=` and the argument BUILDKIT_SYNTAX (BuildKit, frontend/dockerfile/builder). A frontend can request any source
 * with the build's credentials, so untrusted code can never select one.
 */
function frontendOf({ syntax }: PlannedImage, trusted: boolean): string[] {
  const builtIn = trusted ? syntax : 'docker/dockerfile:1';
  return builtIn === undefined ? [] : [`--opt=cmdline=${builtIn}`];
}

interface SecretFile {
  id: string;
  /** The file that buildctl reads; buildkitd requests its content for the step that mounts it. */
  file: string;
  volume: NonNullable<PodSpec['volumes']>[number];
  mount: NonNullable<Container['volumeMounts']>[number];
}

/**
 * Returns the secrets of one image's build, mounted only into its container; `index` is the image's position in the
 * Job.
 */
export function secretFiles(image: PlannedImage, index: number, { trusted }: BuildJobInput): SecretFile[] {
  if (!trusted) return [];
  return image.secrets.map(({ id, bundle, key }, number) => {
    const name = `secret-${index}-${number}`;
    const folder = `${secretsFolder}/${number}`;
    return {
      id,
      file: `${folder}/secret`,
      volume: {
        name,
        secret: { secretName: bundle, defaultMode: 0o440, items: [{ key, path: 'secret' }] },
      },
      mount: { name, mountPath: folder, readOnly: true },
    };
  });
}

/** Returns fields in buildctl's format: one line of RFC 4180. */
function csvOf(...fields: string[]): string {
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}
