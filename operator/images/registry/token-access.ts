import { imagePrefix, type ImageRegistry } from '../../../crds/image-name.ts';
import type { CredentialKey } from '../../../registry-tokens/credential-keys.ts';
import { CREDENTIAL_USER, issueBuildCredential, issuePullCredential } from '../../../registry-tokens/credential.ts';
import { readScopes } from '../../../registry-tokens/scope.ts';
import type { TokenSigner } from '../../../registry-tokens/token-signer.ts';
import type { CredentialHolder, OwnRegistryAccess } from './own-access.ts';
import { splitAddress } from './own-registry.ts';
import type { RegistryCredentials } from './session.ts';

export interface TokenAccessOptions {
  imageRegistry: ImageRegistry;
  /** Maximum duration of a build, in seconds. */
  deadlineSeconds: number;
  keys: () => readonly CredentialKey[];
  signer: () => TokenSigner;
  watch: (onChange: () => void) => () => void;
  now: () => Date;
}

/** How much longer than the build a build's credential is valid: the Job may wait for a node, and pushes at its end. */
const graceSeconds = 600;

/**
 * Returns the access with credentials for one repository of one group each, which the token server exchanges for tokens
 * (ADR 42).
 */
export function tokenAccess(options: TokenAccessOptions): OwnRegistryAccess {
  const { imageRegistry, deadlineSeconds, keys, signer, watch, now } = options;
  const host = splitAddress(imageRegistry.address).host;
  const claims = ({ environmentUid, repository }: CredentialHolder, trusted = true) => ({
    uid: environmentUid,
    prefix: imagePrefix(imageRegistry, repository, trusted).slice(host.length + 1),
  });
  return {
    login: { token: async (scope) => (await signer().sign('operator', readScopes([scope]) ?? [], now())).token },
    forBuild: ({ trusted, ...holder }) =>
      credentialsOf(issueBuildCredential(claims(holder, trusted), deadlineSeconds + graceSeconds, keys(), now())),
    forPulls: (holder) => {
      const issued = issuePullCredential(claims(holder), keys(), now());
      return { credentials: credentialsOf(issued?.credential), ...(issued && { renewAt: issued.renewAt }) };
    },
    watch,
  };
}

function credentialsOf(credential: string | undefined): RegistryCredentials {
  if (credential === undefined)
    throw new Error('there is no key for signing registry credentials yet. The operator creates it and retries');
  return { username: CREDENTIAL_USER, password: credential };
}
