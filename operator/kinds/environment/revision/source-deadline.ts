import { Stalled } from '../../../shared/errors.ts';
import { SourceRefusedError, SourceUnreachableError, waitWhileBusy } from '../../../source/errors.ts';

/** Maximum interval between two tries of one environment. */
const maxGapMs = 3600_000;

/** How long each environment retries requests to a Git host that does not respond. */
export class SourceDeadline {
  readonly #seconds: number;
  readonly #now: () => Date;
  /** When an environment's Git host stopped responding, by the namespace's UID. */
  readonly #silentSince = new Map<string, number>();

  constructor(seconds: number, now: () => Date) {
    this.#seconds = seconds;
    this.#now = now;
  }

  /**
   * Reports a refusal, and silence beyond the deadline, as an error that the user must act on. A busy host is not
   * silent.
   */
  async ask<T>(namespaceUid: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      const error = waitWhileBusy(cause);
      if (error instanceof SourceUnreachableError && !this.#isOverdue(namespaceUid)) throw error;
      this.#silentSince.delete(namespaceUid);
      if (error instanceof SourceRefusedError) throw new Stalled(error.reason, error.message, { cause: error });
      if (!(error instanceof SourceUnreachableError)) throw error;
      const message = `${error.message} for ${this.#seconds} s. Check the host, then request a build`;
      throw new Stalled('SourceUnreachable', message, { cause: error });
    }
  }

  /** Forgets the silence of an environment's host, which has responded. */
  end(namespaceUid: string): void {
    this.#silentSince.delete(namespaceUid);
  }

  #isOverdue(namespaceUid: string): boolean {
    const now = this.#now().getTime();
    const deadlineMs = this.#seconds * 1000;
    const since = this.#silentSince.get(namespaceUid) ?? now;
    // Environments that were deleted while their host was silent are never asked for again. The map's first entry is the
    // oldest.
    for (const [other, otherSince] of this.#silentSince) {
      if (now - otherSince < deadlineMs + maxGapMs) break;
      this.#silentSince.delete(other);
    }
    this.#silentSince.set(namespaceUid, since);
    return now - since >= deadlineMs;
  }
}
