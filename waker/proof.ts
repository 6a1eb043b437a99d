import { createHmac, timingSafeEqual } from 'node:crypto';

/** How long a waiting page can wake the environment after it was loaded, in milliseconds. */
const validMs = 10 * 60_000;

/** Signs and checks the proofs of waiting pages: a program that does not run the page's script sends none. */
export class Proofs {
  readonly #key: Buffer;
  readonly #now: () => number;

  constructor(key: string, now: () => number) {
    // A key of its own, so that a proof is never an answer of the handshake.
    this.#key = createHmac('sha256', key).update('waiting pages').digest();
    this.#now = now;
  }

  /** Returns the proof for the waiting page of this host. */
  sign(host: string): string {
    const at = String(this.#now());
    return `${at}.${this.#signature(host, at)}`;
  }

  /** Whether the proof is one of a waiting page of this host that was loaded recently. */
  isValid(host: string, proof: string): boolean {
    const [at = '', signature = '', ...rest] = proof.split('.');
    const age = this.#now() - Number(at);
    if (rest.length > 0 || !/^\d{1,15}$/.test(at) || age < -validMs || age > validMs) return false;
    const [given, expected] = [Buffer.from(signature), Buffer.from(this.#signature(host, at))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  #signature(host: string, at: string): string {
    return createHmac('sha256', this.#key).update(`${at} ${host}`).digest('base64url');
  }
}
