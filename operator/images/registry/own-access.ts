import type { ResourceId } from '../../../crds/ids.ts';
import type { SecretFolder } from '../../../process/secret-folder.ts';
import type { RegistryCredentials, RegistryLogin } from './session.ts';

/** The Environment that a credential is for. */
export interface CredentialHolder {
  environmentUid: string;
  repository: ResourceId;
}

/** Provides credentials for Coppice's own registry to the operator, to builds and to the kubelet. */
export interface OwnRegistryAccess {
  /** The operator's own login. */
  login: RegistryLogin;
  /** Returns credentials for a build; undefined if the registry needs none. */
  forBuild: (holder: CredentialHolder & { trusted: boolean }) => RegistryCredentials | undefined;
  /** Returns credentials for an environment's pull Secret, and when they must be renewed (`renewAt`). */
  forPulls: (holder: CredentialHolder) => { credentials: RegistryCredentials | undefined; renewAt?: Date };
  /** Calls `onChange` when issued credentials are no longer valid. Returns a function that stops watching. */
  watch: (onChange: () => void) => () => void;
}

/**
 * Returns the access with one account for everybody, from registry.credentialsSecret. @param folder undefined for a
 * registry without credentials
 */
export function sharedAccess(
  folder: Pick<SecretFolder<RegistryCredentials>, 'current' | 'watch'> | undefined,
): OwnRegistryAccess {
  const credentials = () => folder?.current();
  return {
    login: { credentials },
    forBuild: credentials,
    forPulls: () => ({ credentials: credentials() }),
    watch: (onChange) => folder?.watch(onChange) ?? (() => undefined),
  };
}
