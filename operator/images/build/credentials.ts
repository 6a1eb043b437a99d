import type { Secret } from '../../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../../kubernetes/secret-texts.ts';
import { mergeAuths, writeDockerConfig, type RegistryAuths } from '../registry/docker-config.ts';
import type { BuilderEndpoint } from '../builders/pool.ts';
import { canonicalHost, splitAddress } from '../registry/own-registry.ts';
import type { RegistryCredentials } from '../registry/session.ts';
import type { GitFiles } from '../../source/git/git-files.ts';
import type { BuildArgument } from './build-arguments.ts';
import { BUILD_CREDENTIALS, CREDENTIALS_FOLDER, SOURCE_CREDENTIALS, sourceKey } from './job-containers.ts';

/** Adds Coppice's own registry, `host[:port][/path]`, first: no Secret can override its credentials. */
export function withOwnRegistry(
  registry: string,
  credentials: RegistryCredentials | undefined,
  others: RegistryAuths,
): RegistryAuths {
  // Docker's configuration supports only whole hosts.
  const { host } = splitAddress(registry);
  const own: RegistryAuths = credentials ? new Map([[host, credentials]]) : new Map();
  const rest = new Map([...others].filter(([name]) => canonicalHost(name) !== canonicalHost(host)));
  return mergeAuths([own, rest]);
}

/** Returns the Secret that only buildctl containers use, with the arguments of their builds. */
export function buildSecret(
  namespace: string,
  labels: Record<string, string>,
  builder: Pick<BuilderEndpoint, 'ca' | 'certificate' | 'key'>,
  auths: RegistryAuths,
  policy: string,
  given: readonly Pick<BuildArgument, 'key' | 'value'>[],
): Secret {
  return secret(namespace, labels, BUILD_CREDENTIALS, {
    'ca.crt': builder.ca,
    'tls.crt': builder.certificate,
    'tls.key': builder.key,
    'config.json': writeDockerConfig(auths),
    'source-policy.json': policy,
    ...Object.fromEntries(given.map(({ key, value }) => [key, value])),
  });
}

/** The pull Secret, which the kubelet uses and no pod mounts. */
export const PULL_SECRET = 'registry';

export function pullSecret(namespace: string, labels: Record<string, string>, auths: RegistryAuths): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: PULL_SECRET, namespace, labels },
    type: 'kubernetes.io/dockerconfigjson',
    data: encodeTexts({ '.dockerconfigjson': writeDockerConfig(auths) }),
  };
}

/** Returns the Secret of which each clone container mounts its own files. */
export function sourceSecret(
  namespace: string,
  labels: Record<string, string>,
  clones: readonly { included: string | undefined; files: GitFiles }[],
): Secret {
  const texts = clones.flatMap(({ included, files }) =>
    Object.entries(files(CREDENTIALS_FOLDER)).map(([name, text]) => [sourceKey(included, name), text] as const),
  );
  return secret(namespace, labels, SOURCE_CREDENTIALS, Object.fromEntries(texts));
}

function secret(
  namespace: string,
  labels: Record<string, string>,
  name: string,
  texts: Record<string, string>,
): Secret {
  const data = encodeTexts(texts);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, type: 'Opaque', data };
}
