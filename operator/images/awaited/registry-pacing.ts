/** Minimum interval between two requests of one tenant to one registry, in milliseconds. */
const gapMs = 1000;
/** Pause after a request that the registry did not answer, or that it limits; doubled after each further one. */
const firstPauseMs = 10_000;
const maxPauseMs = 5 * 60_000;
const maxKept = 1000;

interface Pace {
  /** When the next request can be sent, in milliseconds. */
  freeAt: number;
  pausedUntil: number;
  failures: number;
}

/** Decides when a registry is asked for a tenant's images. Keys name a tenant and a registry. */
export class RegistryPacing {
  readonly #paces = new Map<string, Pace>();

  /** Reserves the next request; returns when it can be sent. */
  reserve(key: string, now: number): number {
    const pace = this.#paces.get(key) ?? { freeAt: 0, pausedUntil: 0, failures: 0 };
    const at = Math.max(now, pace.freeAt, pace.pausedUntil);
    this.#paces.set(key, { ...pace, freeAt: at + gapMs });
    if (this.#paces.size > maxKept) this.#prune(now);
    return at;
  }

  isPaused(key: string, now: number): boolean {
    return (this.#paces.get(key)?.pausedUntil ?? 0) > now;
  }

  answered(key: string): void {
    const pace = this.#paces.get(key);
    if (pace) this.#paces.set(key, { ...pace, failures: 0 });
  }

  /** Pauses the registry. Requests that were under way together count once. */
  failed(key: string, now: number): void {
    const pace = this.#paces.get(key);
    if (!pace || pace.pausedUntil > now) return;
    const pausedUntil = now + Math.min(maxPauseMs, firstPauseMs * 2 ** pace.failures);
    this.#paces.set(key, { freeAt: pausedUntil, pausedUntil, failures: pace.failures + 1 });
  }

  #prune(now: number): void {
    for (const [key, { freeAt }] of this.#paces) if (freeAt + maxPauseMs < now) this.#paces.delete(key);
  }
}
