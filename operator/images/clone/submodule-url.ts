import { posix } from 'node:path';
import { formatSshOrigin, parseSshOrigin, type SshOrigin } from '../../source/network/ssh-origin.ts';

/**
 * Returns the address of a submodule: `url` from .gitmodules, absolute or relative to the repository at `parent`. SSH
 * is used only on the server of `parent`, which knows the repository's key; SSH addresses of other hosts become HTTPS.
 * Returns undefined for local paths, git's remote helpers, and URLs with credentials.
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

/** Returns whether both use the same SSH key and host keys. */
function isSameServer(one: SshOrigin, other: SshOrigin): boolean {
  return one.host === other.host && one.port === other.port && one.user === other.user;
}

/** Resolves a relative URL, but never above the server's root or, in the scp-like form, the user's home. */
function relativePath(url: string, parent: string): string {
  const path = posix.join('/', parent, url);
  return parent.startsWith('/') ? path : path.slice(1);
}

/** Returns undefined if the result is not an origin that Coppice accepts. */
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
