import type { ResourceId } from '../../crds/ids.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { BUILDER_SECRET, SOURCE_SECRET } from './job.ts';
import { sourcePolicy } from './source-policy.ts';

export interface BuilderCredentials {
  /** PEM: the authority that buildkitd's certificate is checked against, and buildctl's own pair. */
  ca: string;
  certificate: string;
  key: string;
  registryUsername: string | undefined;
  registryPassword: string | undefined;
}

/** A Docker client configuration with the registry's credentials. */
function dockerConfig(registry: string, username: string | undefined, password: string | undefined): string {
  if (username === undefined || password === undefined) return JSON.stringify({ auths: {} });
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return JSON.stringify({ auths: { [registry]: { auth } } });
}

/** What only a buildctl container mounts. */
export function builderSecret(
  namespace: string,
  labels: Record<string, string>,
  credentials: BuilderCredentials,
  registry: string,
  repository: ResourceId,
): Secret {
  return secret(namespace, labels, BUILDER_SECRET, {
    'ca.crt': credentials.ca,
    'tls.crt': credentials.certificate,
    'tls.key': credentials.key,
    'config.json': dockerConfig(registry, credentials.registryUsername, credentials.registryPassword),
    'source-policy.json': sourcePolicy(registry, `${repository.group}/${repository.name}`),
  });
}

/** The Secret that the kubelet pulls built images with; no pod mounts it. */
export const PULL_SECRET = 'registry';

export function pullSecret(
  namespace: string,
  labels: Record<string, string>,
  registry: string,
  { registryUsername, registryPassword }: Pick<BuilderCredentials, 'registryUsername' | 'registryPassword'>,
): Secret {
  const config = dockerConfig(registry, registryUsername, registryPassword);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: PULL_SECRET, namespace, labels },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  };
}

/** What only the clone container mounts. */
export function sourceSecret(namespace: string, labels: Record<string, string>, gitConfig: string): Secret {
  return secret(namespace, labels, SOURCE_SECRET, { gitconfig: gitConfig });
}

function secret(
  namespace: string,
  labels: Record<string, string>,
  name: string,
  texts: Record<string, string>,
): Secret {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, type: 'Opaque', data };
}
