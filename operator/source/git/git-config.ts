import { portOf, type PinnedOrigin } from '../network/addresses.ts';
import { SSH_FILES } from './ssh-config.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';

export interface GitCredentials {
  username: string;
  password: string;
}

/**
 * Faults that git's fsck reports in commits and trees of old clients. They are harmless, and the authors cannot fix
 * them. Faults that affect the paths of files (`duplicateEntries`, `fullPathname`, `gitmodules…`) are refused.
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
 * Returns the git configuration for one origin, for the operator and the clone container. It is a file, so that
 * credentials appear in no argv and no environment. Redirects are refused, because they would bypass the address check.
 * `folder` contains the files of an origin over SSH.
 */
export function gitConfig(pinned: PinnedOrigin, credentials: GitCredentials | undefined, folder = ''): string {
  const transport = parseSshOrigin(pinned.origin) ? sshTransport(folder) : httpTransport(pinned, credentials);
  const lines = [
    '[protocol]',
    '\tversion = 2',
    // Refuses other transports, such as local paths and git's remote helpers, whatever a repository configures.
    '\tallow = never',
    ...transport,
    '[credential]',
    '\thelper =',
    '[core]',
    '\tsymlinks = true',
    '\thooksPath = /dev/null',
    // Streams large files to disk instead of holding them in memory.
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
 * Returns the settings of a partial clone, in addition to gitConfig(). Setting them in the repository would take a
 * process for each.
 */
export function partialCloneConfig(origin: string): string {
  const lines = [
    '[remote "origin"]',
    `\turl = ${quoted(origin)}`,
    '\tpromisor = true',
    '\tpartialCloneFilter = blob:none',
    // A partial fetch ignores fetch.fsck and would refuse commits of old clients. Nothing is checked out here.
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
  // A shell parses the command, so the path is quoted.
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
