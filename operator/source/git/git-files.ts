import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import { pinOrigin, type Lookup, type OriginRules } from '../network/addresses.ts';
import { gitConfig, type GitCredentials } from './git-config.ts';
import type { SshAccess } from './ssh-access.ts';
import { SSH_FILES, sshConfig } from './ssh-config.ts';
import { hostAlias, parseSshOrigin } from '../network/ssh-origin.ts';
import { askHostKeys } from './ssh-tools.ts';

export interface SourceAccess {
  origin: string;
  /** Over HTTP(S). */
  credentials: GitCredentials | undefined;
  /** Over SSH. */
  ssh?: SshAccess | undefined;
  /** Whose repository it is. */
  flowOwner?: FlowOwner | undefined;
}

/** Files by name, for the one folder that they are made for: what they say names it. */
export type GitFiles = (folder: string) => Record<string, string>;

/** The configuration file passed to git; it names the others. */
export const GIT_CONFIG_FILE = 'gitconfig';

/** Beside it, as clone.sh expects it: authorities to trust beside the public ones. */
export const CA_FILE = 'certificate-authorities.pem';

/**
 * All that git needs to reach one origin, and no other, as files: credentials appear in no argv and no environment.
 * The same for the operator and for the clone container. Throws SourceRefused or SourceUnreachable.
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
