import type { SessionRedis } from '../auth/sessions.ts';
import type { WrittenRedis } from '../cluster/written-versions.ts';
import type { WriteBudgetRedis } from '../limits/write-budget.ts';
import type { ReplayRedis } from '../webhooks/replays.ts';

interface SetOptions {
  condition?: 'NX';
  expiration: { type: 'PXAT' | 'PX'; value: number };
}

/** The Redis commands that sessions and deliveries use, with a clock that the test controls. */
export class FakeRedis implements SessionRedis, ReplayRedis, WrittenRedis, WriteBudgetRedis {
  readonly #now: () => number;
  readonly entries = new Map<string, { value: string; expiresAt: number }>();
  readonly #hashes = new Map<string, Record<string, string>>();
  readonly #scores = new Map<string, { members: Map<string, number>; expiresAt: number }>();
  /** Error that every command throws, if set. */
  failure: Error | undefined;
  renewals = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  set(key: string, value: string, { condition, expiration }: SetOptions): Promise<unknown> {
    return this.#answer(() => {
      if (condition === 'NX' && this.#live(key)) return null;
      const expiresAt = expiration.value + (expiration.type === 'PX' ? this.#now() : 0);
      this.entries.set(key, { value, expiresAt });
      return 'OK';
    });
  }

  get(key: string): Promise<string | null> {
    return this.#answer(() => this.#live(key)?.value ?? null);
  }

  getDel(key: string): Promise<string | null> {
    return this.#answer(() => {
      const value = this.#live(key)?.value ?? null;
      this.entries.delete(key);
      return value;
    });
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

  del(keys: string | string[]): Promise<unknown> {
    return this.#answer(() => [keys].flat().map((key) => this.entries.delete(key)));
  }

  hSet(key: string, field: string, value: string): Promise<unknown> {
    return this.#answer(() => this.#hashes.set(key, { ...this.#hashes.get(key), [field]: value }));
  }

  hGetAll(key: string): Promise<Record<string, string>> {
    return this.#answer(() => ({ ...this.#hashes.get(key) }));
  }

  hDel(key: string, fields: string | string[]): Promise<unknown> {
    const gone = [fields].flat();
    const left = () => Object.entries(this.#hashes.get(key) ?? {}).filter(([field]) => !gone.includes(field));
    return this.#answer(() => this.#hashes.set(key, Object.fromEntries(left())));
  }

  zAdd(key: string, { score, value }: { score: number; value: string }): Promise<unknown> {
    return this.#answer(() => {
      const { members } = this.#liveScores(key) ?? { members: new Map<string, number>() };
      members.set(value, Math.max(score, members.get(value) ?? score));
      this.#scores.set(key, { members, expiresAt: Infinity });
    });
  }

  zRangeWithScores(key: string): Promise<{ value: string; score: number }[]> {
    const members = () => [...(this.#liveScores(key)?.members ?? [])];
    return this.#answer(() => members().map(([value, score]) => ({ value, score })));
  }

  incrBy(key: string, increment: number): Promise<number> {
    return this.#answer(() => {
      const { value = '0', expiresAt = Infinity } = this.#live(key) ?? {};
      const sum = Number(value) + increment;
      this.entries.set(key, { value: `${sum}`, expiresAt });
      return sum;
    });
  }

  pExpire(key: string, milliseconds: number): Promise<unknown> {
    return this.#answer(() => {
      const expiring = this.#liveScores(key) ?? this.#live(key);
      if (expiring) expiring.expiresAt = this.#now() + milliseconds;
    });
  }

  #liveScores(key: string) {
    const scores = this.#scores.get(key);
    return scores && scores.expiresAt > this.#now() ? scores : undefined;
  }

  #live(key: string) {
    const entry = this.entries.get(key);
    return entry && entry.expiresAt > this.#now() ? entry : undefined;
  }

  #answer<R>(work: () => R): Promise<R> {
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(work());
  }
}
