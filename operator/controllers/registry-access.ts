import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { OperatorConfig, OperatorSecrets } from '../config.ts';
import { CredentialsFolder } from '../images/registry/credentials-folder.ts';
import { sharedAccess, type OwnRegistryAccess } from '../images/registry/own-access.ts';
import { tokenAccess } from '../images/registry/token-access.ts';
import { TokenSecrets } from '../images/registry/token-secrets.ts';

export interface RegistryAccess {
  access: OwnRegistryAccess;
  /** To be reconciled before anything needs a credential; absent where the registry asks no token server of ours. */
  tokenSecrets?: TokenSecrets;
}

/** Puts together how Coppice's own registry is reached. Throws where the files of a shared account cannot be read. */
export function createRegistryAccess(
  { registry, builder, systemNamespace }: OperatorConfig,
  { REGISTRY_CREDENTIALS_FOLDER }: OperatorSecrets,
  client: ClusterClient,
  logger: Logger,
): RegistryAccess {
  if (!registry.tokenAuth) return { access: sharedAccess(new CredentialsFolder(REGISTRY_CREDENTIALS_FOLDER, logger)) };
  const now = () => new Date();
  const { service } = registry.tokenAuth;
  const tokenSecrets = new TokenSecrets({ client, namespace: systemNamespace, service, randomBytes, now });
  const { keys, signer, watch } = tokenSecrets;
  const { deadlineSeconds } = builder;
  return { access: tokenAccess({ imageRegistry: registry, deadlineSeconds, keys, signer, watch, now }), tokenSecrets };
}
