import { FairRoom } from '../../fair-queue/fair-room.ts';

/** A finished run. */
export interface KeptRun {
  id: string;
  /** The account that it counts for, or its group. */
  tenant: string;
  bytes: number;
  /** In milliseconds of the clock. */
  endedAt: number;
}

/** Tracks finished runs, and selects which must be deleted when they use too much space. */
export class KeptRuns {
  readonly #maxMs: number;
  readonly #room: FairRoom;
  /** When each run ended, the earliest first. */
  readonly #endedAt = new Map<string, number>();

  constructor(max: { bytes: number; ms: number }) {
    this.#maxMs = max.ms;
    this.#room = new FairRoom(max.bytes);
  }

  /** Records a run that has just finished. @returns the IDs of runs to delete */
  add({ id, tenant, bytes, endedAt }: KeptRun): string[] {
    this.#forgetExpired(endedAt - this.#maxMs);
    this.#endedAt.set(id, endedAt);
    const gone = this.#room.add(tenant, id, bytes);
    for (const one of gone) this.#endedAt.delete(one);
    return gone;
  }

  /** Forgets runs that have expired in Redis. */
  #forgetExpired(before: number): void {
    for (const [id, endedAt] of this.#endedAt) {
      if (endedAt > before) return;
      this.#endedAt.delete(id);
      this.#room.delete(id);
    }
  }
}
