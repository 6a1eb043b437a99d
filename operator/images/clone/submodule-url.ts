import { posix } from 'node:path';
import { formatSshOrigin, parseSshOrigin, type SshOrigin } from '../../source/network/ssh-origin.ts';

/**
 * Where a submodule is fetched from: `url` as .gitmodules has it, relative to the repository at `parent` or whole. Over
 * SSH it is only where `parent` is, and on the same server, which knows the repository's key; the forms of SSH that
 * other hosts offer beside HTTPS are taken as that. Undefined for any other: local paths, git's helpers, credentials in
 * the URL.
 */
export function submoduleUrl(url: string, parent: string): string | undefined {
  const ssh = parseSshOrigin(parent);
  if (url.startsWith('./') || url.startsWith('../')) {
    return ssh
      ? sshUrl({ ...ssh, path: relativePath(url, ssh.path) })
      : plainUrl(url, `${parent.replace(/\/+$/, '')}/`);
  }
  if (/^https?:\/\//.test(url)) return plainUrl(url);
  const other = parseSshOrigin(url);
  if (!other) return undefined;
  if (ssh && isSameServer(ssh, other)) return sshUrl(other);
  const path = other.path.replace(/^\/+/, '');
  if (ssh) return plainUrl(`https://${other.host}/${path}`);
  const { hostname, origin } = new URL(parent);
  return plainUrl(`${other.host === hostname ? origin : `https://${other.host}`}/${path}`);
}

/** Whether one key and one set of host keys hold for both. */
function isSameServer(one: SshOrigin, other: SshOrigin): boolean {
  return one.host === other.host && one.port === other.port && one.user === other.user;
}

/** Never above the server's root, or the home that a path of the scp-like form is relative to. */
function relativePath(url: string, parent: string): string {
  const path = posix.join('/', parent, url);
  return parent.startsWith('/') ? path : path.slice(1);
}

/** Undefined where what came of it is not an origin that Coppice takes. */
function sshUrl(origin: SshOrigin): string | undefined {
  const url = formatSshOrigin(origin);
  return parseSshOrigin(url) && url;
}

function plainUrl(text: string, base?: string): string | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  const isPlain = url.username === '' && url.password === '' && url.hash === '' && /^https?:$/.test(url.protocol);
  return isPlain ? url.href : undefined;
}
