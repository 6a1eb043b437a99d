import { type NamedSecret, secretRefusal } from '../../../crds/named-secret.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { secretText } from '../../../kubernetes/secret-texts.ts';
import { mergeAuths, readDockerConfig, type RegistryAuths } from './docker-config.ts';

export interface RegistrySecretsRead {
  auths: RegistryAuths;
  /** Why some Secrets provide no credentials, for the group's members. */
  problems: string[];
  /** The problems that creating a Secret would solve. */
  missing: string[];
}

const key = '.dockerconfigjson';

/**
 * Reads Secrets of type kubernetes.io/dockerconfigjson; of two Secrets for one registry the earlier one takes
 * precedence.
 */
export async function readRegistrySecrets(
  client: Pick<ClusterClient, 'find'>,
  namespace: string,
  named: readonly NamedSecret[],
): Promise<RegistrySecretsRead> {
  const problems: string[] = [];
  const missing: string[] = [];
  const all = await Promise.all(
    named.map(async ({ name, namer }): Promise<RegistryAuths> => {
      const secret = await client.find(Secret, { namespace, name });
      const refusal = secret && secretRefusal(secret, namer);
      if (refusal !== undefined) {
        problems.push(`registrySecrets: ${refusal}`);
        return new Map();
      }
      const config = secret?.type === 'kubernetes.io/dockerconfigjson' ? secretText(secret, key) : undefined;
      const auths = config === undefined ? undefined : readDockerConfig(config);
      if (auths) return auths;
      if (secret)
        problems.push(`the registry Secret ${name} is not of type kubernetes.io/dockerconfigjson, or cannot be read`);
      else missing.push(`the registry Secret ${name} is not in ${namespace}. Create it`);
      return new Map();
    }),
  );
  return { auths: mergeAuths(all), problems: [...problems, ...missing].sort(), missing: missing.sort() };
}
