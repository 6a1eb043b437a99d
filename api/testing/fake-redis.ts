import type { SessionRedis } from '../auth/sessions.ts';

/** The part of Redis that sessions use, by a clock that the test owns. */
export class FakeRedis implements SessionRedis {
  readonly #now: () => number;
  readonly entries = new Map<string, { value: string; expiresAt: number }>();
  /** Thrown by every command while set. */
  failure: Error | undefined;
  renewals = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  set(key: string, value: string, { expiration }: { expiration: { type: 'PXAT'; value: number } }): Promise<unknown> {
    return this.#answer(() => this.entries.set(key, { value, expiresAt: expiration.value }));
  }

  get(key: string): Promise<string | null> {
    return this.#answer(() => this.#live(key)?.value ?? null);
  }

  pExpireTime(key: string): Promise<number> {
    return this.#answer(() => this.#live(key)?.expiresAt ?? -2);
  }

  pExpireAt(key: string, milliseconds: number): Promise<unknown> {
    return this.#answer(() => {
      const entry = this.#live(key);
      if (entry) entry.expiresAt = milliseconds;
      this.renewals++;
    });
  }

  del(key: string): Promise<unknown> {
    return this.#answer(() => this.entries.delete(key));
  }

  #live(key: string) {
    const entry = this.entries.get(key);
    return entry && entry.expiresAt > this.#now() ? entry : undefined;
  }

  #answer<R>(work: () => R): Promise<R> {
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(work());
  }
}
