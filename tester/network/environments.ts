/** Who is served in turn where no group can be reported. */
export const UNKNOWN_GROUP = '(unknown)';

/** Between an alias and its environment's label, which never holds it. */
const aliasSeparator = '---';

/** The addresses that environments have: what tests may reach, and nothing else. */
export class Environments {
  readonly #base: URL;
  readonly #only: string | undefined;

  /**
   * @param base what environments are below, such as http://env.example:8080.
   * @param only the label of the one environment that counts; all where absent.
   */
  constructor(base: string, only?: string) {
    this.#base = new URL(base);
    this.#only = only;
  }

  /** Such as env.example. */
  get domain(): string {
    return this.#base.hostname;
  }

  /** The hosts, `*` for anything, as Chromium's resolver takes them. */
  get hostPatterns(): string[] {
    const labels = this.#only === undefined ? ['*'] : [this.#only, `*${aliasSeparator}${this.#only}`];
    return labels.map((label) => `${label}.${this.domain}`);
  }

  /** The port that all of them answer at. */
  get port(): number {
    return Number(this.#base.port) || (this.#base.protocol === 'https:' ? 443 : 80);
  }

  /**
   * Only the environment that this URL is of: its host, and those of its aliases that name it; one that is made of a
   * hash does not say whose it is. undefined where the URL is not an environment's.
   */
  of(url: string | URL): Environments | undefined {
    return this.has(url) ? new Environments(this.#base.origin, environmentLabel(new URL(url).hostname)) : undefined;
  }

  /** Whether this is a URL of an environment: one label below the domain, the same scheme and port, no credentials. */
  has(url: string | URL): boolean {
    return this.#isBelow(url, this.#base.protocol);
  }

  /** The same for the URL of a WebSocket. */
  hasSocket(url: string | URL): boolean {
    return this.#isBelow(url, this.#base.protocol === 'https:' ? 'wss:' : 'ws:');
  }

  /**
   * The group that an environment's host names, <name>--<group>; unknown where Coppice has made the host of a hash,
   * since the name is too long or ambiguous.
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

/** What an environment's host starts with, also that of an alias: ALIAS---LABEL. */
const environmentLabel = (host: string): string => (host.split('.')[0] ?? '').split(aliasSeparator).at(-1) ?? '';
