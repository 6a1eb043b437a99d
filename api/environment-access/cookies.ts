/** Maximum number of cookies of one name that are tried: pages of other environments can set more for a parent domain. */
const maxTried = 5;

const names = { access: 'coppice-access', start: 'coppice-access-start' } as const;
type Name = keyof typeof names;

/** Browsers accept it only over https, and let no other host set it. */
const hostPrefix = '__Host-';

/** The name of each cookie with every prefix: none of them reaches the environment. */
const allNames = new Set(Object.values(names).flatMap((name) => [name, `${hostPrefix}${name}`]));

function pairs(cookies: string | undefined): { name: string; value: string; text: string }[] {
  return (cookies?.split(';') ?? []).map((text) => {
    const [name = '', ...value] = text.split('=');
    return { name: name.trim(), value: value.join('=').trim(), text: text.trim() };
  });
}

/** Returns the Cookie header without Coppice's cookies; undefined if nothing is left. */
export function withoutOwn(cookies: string | undefined): string | undefined {
  const kept = pairs(cookies).filter(({ name, text }) => text !== '' && !allNames.has(name));
  return kept.length === 0 ? undefined : kept.map(({ text }) => text).join('; ');
}

/** The cookies of one host, which scripts cannot read, and which no other host receives. */
export class HostCookies {
  readonly #isHttps: boolean;

  constructor(isHttps: boolean) {
    this.#isHttps = isHttps;
  }

  values(cookies: string | undefined, name: Name): string[] {
    const wanted = this.#nameOf(name);
    const found = pairs(cookies).filter((pair) => pair.name === wanted);
    return found.slice(0, maxTried).map(({ value }) => value);
  }

  set(name: Name, value: string, maxAgeSeconds: number): string {
    const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${this.#isHttps ? '; Secure' : ''}`;
    return `${this.#nameOf(name)}=${value}; ${attributes}`;
  }

  #nameOf(name: Name): string {
    return this.#isHttps ? `${hostPrefix}${names[name]}` : names[name];
  }
}
