/** Group of hosts whose group is unknown. */
export const UNKNOWN_GROUP = '(unknown)';

/** Separates an alias from its environment's label, which never contains it. */
const aliasSeparator = '---';

/** The addresses of environments, the only ones that tests can connect to. */
export class Environments {
  readonly #base: URL;
  readonly #only: string | undefined;

  /**
   * Creates the set of addresses.
   * @param base parent URL of environments, such as http://env.example:8080
   * @param only label of the only permitted environment; all if absent
   */
  constructor(base: string, only?: string) {
    this.#base = new URL(base);
    this.#only = only;
  }

  /** Scheme, domain and port: the parent URL of environments. */
  get origin(): string {
    return this.#base.origin;
  }

  /** For example env.example. */
  get domain(): string {
    return this.#base.hostname;
  }

  /** The hosts with `*` as a wildcard, in the format of Chromium's resolver rules. */
  get hostPatterns(): string[] {
    const labels = this.#only === undefined ? ['*'] : [this.#only, `*${aliasSeparator}${this.#only}`];
    return labels.map((label) => `${label}.${this.domain}`);
  }

  /** The port of all environments. */
  get port(): number {
    return Number(this.#base.port) || (this.#base.protocol === 'https:' ? 443 : 80);
  }

  /**
   * Returns the addresses of only the environment of this URL: its host, and the hosts of aliases that contain its
   * label; a hashed host does not. Returns undefined if the URL is not an environment's.
   */
  of(url: string | URL): Environments | undefined {
    return this.has(url) ? new Environments(this.#base.origin, environmentLabel(new URL(url).hostname)) : undefined;
  }

  /**
   * Returns whether this is a URL of an environment: one label below the domain, the same scheme and port, no
   * credentials.
   */
  has(url: string | URL): boolean {
    return this.#isBelow(url, this.#base.protocol);
  }

  /** Like has(), for the URL of a WebSocket. */
  hasSocket(url: string | URL): boolean {
    return this.#isBelow(url, this.#base.protocol === 'https:' ? 'wss:' : 'ws:');
  }

  /**
   * Returns the group in an environment's host, <name>--<group>; unknown if the host is a hash because the name is too
   * long or ambiguous.
   */
  groupOf(url: string): string {
    const parts = environmentLabel(new URL(url).hostname).split('--');
    return (parts.length === 2 && parts[1]) || UNKNOWN_GROUP;
  }

  #isBelow(url: string | URL, protocol: string): boolean {
    const parsed = typeof url === 'string' ? URL.parse(url) : url;
    if (parsed === null || parsed.protocol !== protocol || parsed.port !== this.#base.port) return false;
    if (parsed.username !== '' || parsed.password !== '') return false;
    const suffix = `.${this.domain}`;
    if (!parsed.hostname.endsWith(suffix)) return false;
    if (!/^[a-z0-9-]{1,63}$/.test(parsed.hostname.slice(0, -suffix.length))) return false;
    return this.#only === undefined || environmentLabel(parsed.hostname) === this.#only;
  }
}

/** Returns the label of an environment's host, also in an alias' host ALIAS---LABEL. */
const environmentLabel = (host: string): string => (host.split('.')[0] ?? '').split(aliasSeparator).at(-1) ?? '';
