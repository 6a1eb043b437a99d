import { portOf, type PinnedOrigin } from '../network/addresses.ts';
import { SSH_FILES } from './ssh-config.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';

export interface GitCredentials {
  username: string;
  password: string;
}

/**
 * What git's fsck says of commits and trees that old clients made: it does no harm, and their authors cannot fix it.
 * Whatever decides which file stands where (`duplicateEntries`, `fullPathname`, `gitmodules…`) is refused.
 */
const harmlessFaults = [
  'badDate',
  'badDateOverflow',
  'badEmail',
  'badName',
  'badTimezone',
  'missingEmail',
  'missingNameBeforeEmail',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'multipleAuthors',
  'zeroPaddedDate',
  'zeroPaddedFilemode',
];

function quoted(value: string): string {
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}

/**
 * The git configuration for one origin, the same for the operator and for the clone container. It is a file, so that
 * credentials appear in no argv and no environment. Redirects are refused: they would lead past the address check.
 * `folder` is where the files of an origin over SSH lie.
 */
export function gitConfig(pinned: PinnedOrigin, credentials: GitCredentials | undefined, folder = ''): string {
  const transport = parseSshOrigin(pinned.origin) ? sshTransport(folder) : httpTransport(pinned, credentials);
  const lines = [
    '[protocol]',
    '\tversion = 2',
    // But for what the transport adds: neither local paths nor git's helpers, whatever a repository says.
    '\tallow = never',
    ...transport,
    '[credential]',
    '\thelper =',
    '[core]',
    '\tsymlinks = true',
    '\thooksPath = /dev/null',
    // A large file is written as it comes, and not held in memory.
    '\tbigFileThreshold = 1m',
    '[fetch]',
    '\tfsckObjects = true',
    '[fetch "fsck"]',
    ...harmlessFaults.map((fault) => `\t${fault} = ignore`),
    '[pack]',
    '\tthreads = 1',
    '[filter "lfs"]',
    '\tsmudge =',
    '\trequired = false',
    '[advice]',
    '\tdetachedHead = false',
    '[init]',
    '\tdefaultBranch = main',
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * For the partial clone of an origin, beside gitConfig(): as if each had been set in the repository, which takes a process
 * each.
 */
export function partialCloneConfig(origin: string): string {
  const lines = [
    '[remote "origin"]',
    `\turl = ${quoted(origin)}`,
    '\tpromisor = true',
    '\tpartialCloneFilter = blob:none',
    // In a partial fetch git refuses what old clients made too, whatever fetch.fsck says. Nothing is checked out here.
    '[fetch]',
    '\tfsckObjects = false',
  ];
  return `${lines.join('\n')}\n`;
}

function httpTransport({ origin, address }: PinnedOrigin, credentials: GitCredentials | undefined): string[] {
  const url = new URL(origin);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const pinned = `${hostname}:${portOf(url)}:${address.includes(':') ? `[${address}]` : address}`;
  const lines = [
    '[protocol "http"]',
    '\tallow = always',
    '[protocol "https"]',
    '\tallow = always',
    '[http]',
    '\tfollowRedirects = false',
    '\tlowSpeedLimit = 1000',
    '\tlowSpeedTime = 20',
    `\tcurloptResolve = ${quoted(pinned)}`,
  ];
  if (!credentials) return lines;
  const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return [...lines, `[http ${quoted(`${url.origin}/`)}]`, `\textraHeader = ${quoted(`Authorization: Basic ${basic}`)}`];
}

function sshTransport(folder: string): string[] {
  // A shell reads it.
  const file = `'${`${folder}/${SSH_FILES.config}`.replaceAll("'", `'\\''`)}'`;
  return [
    '[protocol "ssh"]',
    '\tallow = always',
    '[core]',
    `\tsshCommand = ${quoted(`ssh -F ${file}`)}`,
    '[ssh]',
    '\tvariant = ssh',
  ];
}
