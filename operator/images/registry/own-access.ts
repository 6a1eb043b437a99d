import type { ResourceId } from '../../../crds/ids.ts';
import type { CredentialsFolder } from './credentials-folder.ts';
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

/** Returns the access with one account for everybody, from registry.credentialsSecret. */
export function sharedAccess(folder: Pick<CredentialsFolder, 'current' | 'watch'>): OwnRegistryAccess {
  return {
    login: { credentials: folder.current },
    forBuild: folder.current,
    forPulls: () => ({ credentials: folder.current() }),
    watch: (onChange) => folder.watch(onChange),
  };
}
