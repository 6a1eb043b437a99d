import type { ResourceId } from '../../../crds/ids.ts';
import type { CredentialsFolder } from './credentials-folder.ts';
import type { RegistryCredentials, RegistryLogin } from './session.ts';

/** The Environment that a credential is for. */
export interface CredentialHolder {
  environmentUid: string;
  repository: ResourceId;
}

/** How Coppice's own registry is reached: by the operator, by builds and by the kubelet. */
export interface OwnRegistryAccess {
  /** The operator's own. */
  login: RegistryLogin;
  /** For a build; undefined where the registry asks for none. */
  forBuild: (holder: CredentialHolder & { trusted: boolean }) => RegistryCredentials | undefined;
  /** For the pull Secret of an environment; `renewAt`: when it is to be written with other ones. */
  forPulls: (holder: CredentialHolder) => { credentials: RegistryCredentials | undefined; renewAt?: Date };
  /** Calls `onChange` when credentials that were given are not valid any more. Returns how to stop it. */
  watch: (onChange: () => void) => () => void;
}

/** One account for everybody: that of registry.credentialsSecret. */
export function sharedAccess(folder: Pick<CredentialsFolder, 'current' | 'watch'>): OwnRegistryAccess {
  return {
    login: { credentials: folder.current },
    forBuild: folder.current,
    forPulls: () => ({ credentials: folder.current() }),
    watch: (onChange) => folder.watch(onChange),
  };
}
