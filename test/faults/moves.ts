import fc from 'fast-check';

/** Requests that a user sends through the REST API, and the resulting state if none follows. */
const ends = { put: 'built', rebuild: 'built', delete: 'empty' } as const;
export type Ask = keyof typeof ends;

/** A sequence of requests, each with a delay after the previous one. */
export type Moves = readonly { ask: Ask; afterMs: number }[];

const moves = fc.array(
  fc.record({ ask: fc.constantFrom<Ask>('put', 'rebuild', 'delete'), afterMs: fc.noBias(fc.nat(4000)) }),
  {
    minLength: 1,
    maxLength: 5,
  },
);

/** The moves are complete after 20 s at most. */
const maxDelayMs = 5000;

/**
 * Returns how long after the start of the moves the fault waits for its moment, in milliseconds; constant for a seed.
 */
export function delayFrom(seed: number): number {
  const [delayMs = 0] = fc.sample(fc.noBias(fc.nat(maxDelayMs)), { seed, numRuns: 1 });
  return delayMs;
}

/** Returns moves for each environment; constant for a seed. */
export function movesFrom(seed: number, environments: number): Moves[] {
  const [all] = fc.sample(fc.array(moves, { minLength: environments, maxLength: environments }), { seed, numRuns: 1 });
  if (!all) throw new Error('fast-check gave no moves');
  return all;
}

/** Returns the state after the last move. */
export function endOf(moves: Moves): 'built' | 'empty' {
  const last = moves.at(-1);
  return last === undefined ? 'empty' : ends[last.ask];
}
