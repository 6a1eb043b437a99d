import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import { pinOrigin, type Lookup, type OriginRules } from '../network/addresses.ts';
import { gitConfig, type GitCredentials } from './git-config.ts';
import type { SshAccess } from './ssh-access.ts';
import { SSH_FILES, sshConfig } from './ssh-config.ts';
import { hostAlias, parseSshOrigin } from '../network/ssh-origin.ts';
import { askHostKeys } from './ssh-tools.ts';

export interface SourceAccess {
  origin: string;
  /** For HTTP(S). */
  credentials: GitCredentials | undefined;
  /** For SSH. */
  ssh?: SshAccess | undefined;
  /** The owner of the repository. */
  flowOwner?: FlowOwner | undefined;
}

/** Returns files by name, for one folder, whose path they contain. */
export type GitFiles = (folder: string) => Record<string, string>;

/** The configuration file passed to git; it refers to the others. */
export const GIT_CONFIG_FILE = 'gitconfig';

/** Name of the file with additional certificate authorities, as clone.sh expects it. */
export const CA_FILE = 'certificate-authorities.pem';

/**
 * Returns everything that git needs to reach one origin, and no other, as files: credentials appear in no argv and no
 * environment. Used by the operator and the clone container. Throws SourceRefusedError or SourceUnreachableError.
 */
export async function gitFiles(access: SourceAccess, rules: OriginRules, lookup?: Lookup): Promise<GitFiles> {
  const pinned = await pinOrigin(access.origin, rules, lookup);
  const origin = parseSshOrigin(access.origin);
  if (!origin) {
    const config = gitConfig(pinned, access.credentials);
    return () => ({ [GIT_CONFIG_FILE]: config });
  }
  const { ssh } = access;
  if (!ssh) throw new Error('an origin over SSH requires a key');
  const knownHosts = await ssh.knownHosts(hostAlias(origin), () => askHostKeys(origin, pinned.address));
  return (folder) => ({
    [GIT_CONFIG_FILE]: gitConfig(pinned, undefined, folder),
    [SSH_FILES.config]: sshConfig(origin, pinned.address, folder),
    [SSH_FILES.privateKey]: ssh.privateKey,
    [SSH_FILES.knownHosts]: knownHosts,
  });
}
