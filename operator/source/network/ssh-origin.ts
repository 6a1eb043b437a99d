/** The location of a repository over SSH. */
export interface SshOrigin {
  user: string;
  /** In lower case; an IPv6 address without brackets. */
  host: string;
  port: number;
  /** As git sends it to the host: in the scp-like form it can be relative to the user's home. */
  path: string;
  form: 'url' | 'scp';
}

/** No part may start with `-`, which ssh or the server's git would parse as an option. */
const user = String.raw`(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?`;
const name = String.raw`[A-Za-z0-9][A-Za-z0-9.-]*`;
const urlForm = new RegExp(String.raw`^ssh://${user}(${name}|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?(/[^\s@\p{Cc}]+)$`, 'u');
const scpForm = new RegExp(String.raw`^${user}(${name}):((?:/[^\s@:/\p{Cc}-]|[^\s@:/\p{Cc}-])[^\s@:\p{Cc}]*)$`, 'u');

/** User name of Git hosts for all keys, used if the origin names none. */
const defaultUser = 'git';

/** Parses `ssh://[user@]host[:port]/path` and `[user@]host:path`; returns undefined for anything else. */
export function parseSshOrigin(origin: string): SshOrigin | undefined {
  const url = urlForm.exec(origin);
  if (url) {
    const [, account = defaultUser, host = '', port = '22', path = ''] = url;
    return { user: account, host: host.replace(/^\[|\]$/g, '').toLowerCase(), port: Number(port), path, form: 'url' };
  }
  const scp = scpForm.exec(origin);
  if (!scp) return undefined;
  const [, account = defaultUser, host = '', path = ''] = scp;
  return { user: account, host: host.toLowerCase(), port: 22, path, form: 'scp' };
}

/** Returns the text that parseSshOrigin parses. */
export function formatSshOrigin({ user: account, host, port, path, form }: SshOrigin): string {
  if (form === 'scp') return `${account}@${host}:${path}`;
  const shown = host.includes(':') ? `[${host}]` : host;
  return `ssh://${account}@${shown}${port === 22 ? '' : `:${port}`}${path}`;
}

/** Returns the host's name in known_hosts files and in ssh-keyscan's output. */
export function hostAlias({ host, port }: Pick<SshOrigin, 'host' | 'port'>): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

/** Explains `host:8080/path`: it looks like an address with a port, but Git reads it as the path `8080/path` over SSH. */
export function portHint({ form, path }: Pick<SshOrigin, 'form' | 'path'>): string {
  const [port] = form === 'scp' ? (/^\d{1,5}(?=\/)/.exec(path) ?? []) : [];
  return port === undefined
    ? ''
    : `. Git reads ${port} as a part of the path: start with http://, https:// or ssh:// to name a port`;
}
