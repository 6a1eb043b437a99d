import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';

export interface FoundAddress {
  address: string;
  family: 4 | 6;
}

export interface NameLookupOptions {
  /** DNS servers as `host[:port]`; defaults to those of the system. */
  servers?: readonly string[];
  /** Reads the files of resolv.conf(5) and hosts(5). */
  read?: (path: string) => Promise<string>;
  /** Returns milliseconds. */
  now?: () => number;
  /** Timeout for one name, in milliseconds. */
  timeoutMs?: number;
}

/** How long a failed lookup is remembered, in milliseconds. */
const rememberMs = 5000;
const maxRemembered = 1000;
/** Only these names are tried with the search list: with others, users could learn which names the cluster has. */
const searchedNames = /^[^.]+$|\.svc$/;

/**
 * Resolves names without getaddrinfo, which has no deadline and at most two concurrent lookups per process, so that a
 * DNS server that does not respond would block all others. As with getaddrinfo, the hosts file takes precedence.
 */
export class NameLookup {
  readonly #options: NameLookupOptions;
  readonly #failures = new Map<string, { error: unknown; endsAt: number }>();

  constructor(options: NameLookupOptions = {}) {
    this.#options = options;
  }

  /** Returns at least one address, best first. Rejects with a `code` of node:dns, such as ENOTFOUND or ETIMEOUT. */
  async find(hostname: string): Promise<FoundAddress[]> {
    const { now = Date.now } = this.#options;
    const name = hostname.toLowerCase();
    const failure = this.#failures.get(name);
    if (failure && failure.endsAt > now()) throw failure.error;
    try {
      return await this.#find(name);
    } catch (error) {
      this.#failures.delete(name);
      this.#failures.set(name, { error, endsAt: now() + rememberMs });
      const [oldest] = this.#failures.keys();
      if (oldest !== undefined && this.#failures.size > maxRemembered) this.#failures.delete(oldest);
      throw error;
    }
  }

  async #find(name: string): Promise<FoundAddress[]> {
    const { read = readText, servers, timeoutMs = 5000 } = this.#options;
    const known = hostsOf(await read('/etc/hosts')).get(name);
    if (known) return inOrder(known);
    const domains = searchedNames.test(name) ? searchList(await read('/etc/resolv.conf')) : [];
    const resolver = new Resolver();
    if (servers) resolver.setServers(servers);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
      resolver.cancel();
    }, timeoutMs);
    try {
      let last: unknown;
      for (const candidate of [...domains.map((domain) => `${name}.${domain}`), name]) {
        const [v4, v6] = await Promise.allSettled([resolver.resolve4(candidate), resolver.resolve6(candidate)]);
        const found = [...withFamily(v4, 4), ...withFamily(v6, 6)];
        if (found.length > 0) return inOrder(found);
        if (late.signal.aborted) throw timedOut(name);
        last = [v4, v6].map(whyNot).find((error) => !isMissing(error)) ?? whyNot(v4);
        if (!isMissing(last)) throw last;
      }
      throw last;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The resolver of this process. */
export const names = new NameLookup();

/** Returns whether the name does not exist, as opposed to no server having responded. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');
}

function whyNot(result: PromiseSettledResult<string[]>): unknown {
  return result.status === 'rejected' ? result.reason : undefined;
}

function withFamily(result: PromiseSettledResult<string[]>, family: 4 | 6): FoundAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

/** Sorts IPv4 addresses first, unless this machine has none: some clusters assign IPv6 addresses without a route. */
function inOrder(found: readonly FoundAddress[]): FoundAddress[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const first =
    own.some(({ internal, family }) => !internal && family === 'IPv6') &&
    !own.some(({ internal, family }) => !internal && family === 'IPv4')
      ? 6
      : 4;
  return [...found].sort((a, b) => Number(b.family === first) - Number(a.family === first));
}

function timedOut(name: string): Error {
  return Object.assign(new Error(`DNS did not answer for ${name} in time`), { code: 'ETIMEOUT' });
}

function hostsOf(text: string): Map<string, FoundAddress[]> {
  const hosts = new Map<string, FoundAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...known] = line.replace(/#.*/, '').trim().split(/\s+/);
    const found = { address, family: address.includes(':') ? 6 : 4 } as const;
    for (const name of known) hosts.set(name.toLowerCase(), [...(hosts.get(name.toLowerCase()) ?? []), found]);
  }
  return hosts;
}

function searchList(text: string): string[] {
  const lines = text.split('\n').filter((line) => /^search\s/.test(line));
  return lines.at(-1)?.trim().split(/\s+/).slice(1) ?? [];
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
