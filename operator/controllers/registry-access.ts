import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { OperatorConfig, OperatorSecrets } from '../config.ts';
import { openCredentials } from '../images/registry/credentials-folder.ts';
import { sharedAccess, type OwnRegistryAccess } from '../images/registry/own-access.ts';
import { tokenAccess } from '../images/registry/token-access.ts';
import { TokenSecrets } from '../images/registry/token-secrets.ts';

export interface RegistryAccess {
  access: OwnRegistryAccess;
  /** Reconciled before anything needs a credential; absent if the registry does not use Coppice's token server. */
  tokenSecrets?: TokenSecrets;
}

/** Creates the access to Coppice's own registry. Throws if the files of a shared account cannot be read. */
export function createRegistryAccess(
  { registry, builder, systemNamespace }: OperatorConfig,
  { REGISTRY_CREDENTIALS_FOLDER }: OperatorSecrets,
  client: ClusterClient,
  logger: Logger,
): RegistryAccess {
  if (!registry.tokenAuth) {
    const folder = REGISTRY_CREDENTIALS_FOLDER;
    return { access: sharedAccess(folder === undefined ? undefined : openCredentials(folder, logger)) };
  }
  const now = () => new Date();
  const { service } = registry.tokenAuth;
  const tokenSecrets = new TokenSecrets({ client, namespace: systemNamespace, service, randomBytes, now });
  const { keys, signer, watch } = tokenSecrets;
  const { deadlineSeconds } = builder;
  return { access: tokenAccess({ imageRegistry: registry, deadlineSeconds, keys, signer, watch, now }), tokenSecrets };
}
