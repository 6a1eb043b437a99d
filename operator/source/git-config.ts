import { portOf, type PinnedOrigin } from './addresses.ts';

export interface GitCredentials {
  username: string;
  password: string;
}

function quoted(value: string): string {
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}

/**
 * The git configuration for one origin, the same for the operator and for the clone container. It is a file, so that
 * credentials appear in no argv and no environment. Redirects are refused: they would lead past the address check.
 */
export function gitConfig(pinned: PinnedOrigin, credentials: GitCredentials | undefined): string {
  const url = new URL(pinned.origin);
  const port = portOf(url);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const address = pinned.address.includes(':') ? `[${pinned.address}]` : pinned.address;
  const lines = [
    '[http]',
    '\tfollowRedirects = false',
    '\tlowSpeedLimit = 1000',
    '\tlowSpeedTime = 20',
    `\tcurloptResolve = ${quoted(`${hostname}:${port}:${address}`)}`,
    '[protocol]',
    '\tversion = 2',
    '[credential]',
    '\thelper =',
    '[core]',
    '\tsymlinks = true',
    '\thooksPath = /dev/null',
    // A large file is written as it comes, and not held in memory.
    '\tbigFileThreshold = 1m',
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
  if (credentials) {
    const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
    lines.push(`[http ${quoted(`${url.origin}/`)}]`, `\textraHeader = ${quoted(`Authorization: Basic ${basic}`)}`);
  }
  return `${lines.join('\n')}\n`;
}
