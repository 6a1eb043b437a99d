import { HostTimeoutError, KeyNotAcceptedError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { MIN_KEY_WAIT_MS } from './key-waits.ts';

/** Matches ssh's message when the server accepts none of the offered keys. */
const keyNotAccepted = /^\S+: Permission denied \(|: Too many authentication failures$/m;

/** Returns the error when the server offers no known host key; ssh then sends nothing to it. */
function hostKeyChanged(stderr: string, cause: Error): SourceRefusedError | undefined {
  if (!/^Host key verification failed/m.test(stderr)) return undefined;
  const host = /^(?:Host key for|No \S+ host key is known for) (\S+)/m.exec(stderr)?.[1] ?? 'of the origin';
  return new SourceRefusedError(
    'HostKeyChanged',
    `the SSH host ${host} has a host key other than the known one, which may indicate an attack. If its ` +
      "administrator confirms the new key, put the output of ssh-keyscan into the Repository's spec.generic.knownHosts",
    { cause },
  );
}

/** The message for a server whose list of refs is a plain file. */
export const DUMB_PROTOCOL =
  "the server supports only Git's dumb HTTP protocol. Serve the repository with git http-backend, or over SSH";

const refusals: [RegExp, SourceRefusedError['reason'], string][] = [
  [
    /Authentication failed|could not read Username|could not read Password|returned error: 40[13]/,
    'AuthenticationFailed',
    'the Git host rejected the credentials, or requires some. Check the user name and password',
  ],
  [
    /not found|does not appear to be a git repository|returned error: 404|could not be found|repository does not exist|repository access denied|cannot find repository|is not authorized to/i,
    'NotFound',
    'there is no Git repository at this address, or the credentials have no access to it. Check both',
  ],
  [/couldn't find remote ref/i, 'RefNotFound', 'the ref no longer exists. Push it again, or delete the environment'],
  [
    /^error: FETCH_HEAD\^\{commit\}: expected commit type, but the object dereferences to/m,
    'NotACommit',
    'the ref points to a tree or a file. Point it to a commit',
  ],
  [/dumb http transport does not support/, 'Refused', DUMB_PROTOCOL],
  [
    /unable to update url base from redirection|returned error: 30\d/,
    'Refused',
    'the Git host redirects to another address, which Coppice does not follow. Use the final address',
  ],
];

/** Matches statuses after which the same request can succeed later, whatever else the host responds. */
const passingStatus = /returned error: (?:5\d\d|408|425|429)\b/;

/** Removes URLs from git's messages: a URL can contain any word. */
function withoutUrls(stderr: string): string {
  return stderr.replace(/\b[a-z][a-z\d+.-]*:\/\/\S*/gi, '');
}

/** Why git failed: timeout, too much output, or its own error. */
export type GitFailure = 'late' | 'too much' | { error: Error };

export function takesTooLong(totalMs: number): SourceRefusedError {
  return new SourceRefusedError(
    'TooSlow',
    `reading the repository took longer than ${totalMs / 1000} s. Reference fewer files in the service file, then request a build`,
  );
}

/** Translates git's messages for the user. Its output never contains credentials, which are in a file. */
export function sourceError(stderr: string, failure: GitFailure): Error {
  if (failure === 'late') return new HostTimeoutError('the Git host did not respond in time');
  if (failure === 'too much') {
    return new SourceRefusedError(
      'Refused',
      'the repository has more files than Coppice can read. Split it, or remove files',
    );
  }
  const cause = failure.error;
  if (keyNotAccepted.test(stderr)) {
    return new KeyNotAcceptedError('the Git host does not accept the key', MIN_KEY_WAIT_MS, { cause });
  }
  const changed = hostKeyChanged(stderr, cause);
  if (changed) return changed;
  const output = withoutUrls(stderr);
  const refusal = passingStatus.test(output) ? undefined : refusals.find(([pattern]) => pattern.test(output));
  if (refusal) {
    const [, reason, message] = refusal;
    return new SourceRefusedError(reason, message, { cause });
  }
  // Uses git's last message without curl's measured time: the same failure must have the same text, or its condition
  // would change at every retry.
  const words = stderr.split('\n').filter((line) => /^(fatal|error|ssh|kex_exchange_identification): /.test(line));
  // ssh has reported the reason before this message of git.
  const reasons = words.filter((line) => !/Could not read from remote repository/.test(line));
  const last = ((reasons.length > 0 ? reasons : words).at(-1) ?? '')
    .replace(/^[a-z_]+: /, '')
    .replace(/ after \d+ ms/, '');
  const lastLine = last.replace(/\p{Cc}/gu, '').slice(0, 300) || 'git failed without a message';
  const message = `the Git host did not respond: ${lastLine}`;
  const isTimeout = /\btimed out\b|\btimeout was reached\b/i.test(lastLine);
  return isTimeout ? new HostTimeoutError(message) : new SourceUnreachableError(message, { cause });
}
