import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Unavailable } from '../shared/errors.ts';
import type { RandomBytes } from '../shared/tokens.ts';

interface ScryptParameters {
  /** log2 of N: the cost. */
  ln: number;
  r: number;
  p: number;
}

/** OWASP's first recommendation for scrypt: 128 MiB and a few tenths of a second each. */
const strongParameters: ScryptParameters = { ln: 17, r: 8, p: 1 };
const keyBytes = 32;
/** Each takes 128 MiB: two at once would double the memory that the pod needs. */
const concurrency = 1;
const maxQueue = 50;

const scryptAsync = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/**
 * Hashes passwords. Hashes are PHC strings, so that the parameters can be raised: `$scrypt$ln=17,r=8,p=1$<salt>$<key>`,
 * both base64.
 */
export class Passwords {
  readonly #randomBytes: RandomBytes;
  readonly #parameters: ScryptParameters;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(randomBytes: RandomBytes, parameters: ScryptParameters = strongParameters) {
    this.#randomBytes = randomBytes;
    this.#parameters = parameters;
  }

  async hash(password: string): Promise<string> {
    const { ln, r, p } = this.#parameters;
    const salt = this.#randomBytes(16);
    const key = await this.#derive(password, salt, this.#parameters);
    return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64')}$${key.toString('base64')}`;
  }

  /** Takes the same time without a hash, so that it does not reveal who has an account. */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const stored = hash === undefined ? undefined : parsePhc(hash);
    const { parameters, salt } = stored ?? { parameters: this.#parameters, salt: Buffer.alloc(16) };
    const key = await this.#derive(password, salt, parameters);
    return stored?.key.length === key.length && timingSafeEqual(stored.key, key);
  }

  async #derive(password: string, salt: Buffer, { ln, r, p }: ScryptParameters): Promise<Buffer> {
    await this.#enter();
    try {
      const N = 2 ** ln;
      return await scryptAsync(password.normalize('NFKC'), salt, keyBytes, { N, r, p, maxmem: 256 * N * r });
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < concurrency) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= maxQueue)
      throw new Unavailable('too many logins are in progress. Try again in a few seconds');
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes the slot to the next one waiting, if any. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}

function parsePhc(hash: string): { parameters: ScryptParameters; salt: Buffer; key: Buffer } | undefined {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/.exec(hash);
  if (!match) return undefined;
  const [, ln, r, p, salt = '', key = ''] = match;
  return {
    parameters: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}
