import fc from 'fast-check';

/** What a user asks of an environment through the REST API, and where it ends if nothing follows. */
const ENDS = { put: 'built', rebuild: 'built', delete: 'empty' } as const;
export type Ask = keyof typeof ENDS;

/** One after the other, each so long after the one before. */
export type Moves = readonly { ask: Ask; afterMs: number }[];

const moves = fc.array(
  fc.record({ ask: fc.constantFrom<Ask>('put', 'rebuild', 'delete'), afterMs: fc.noBias(fc.nat(4000)) }),
  {
    minLength: 1,
    maxLength: 5,
  },
);

/** Moves are over after 20 s at most. */
const maxDelayMs = 5000;

/** How long after the moves start the strike waits for its moment; the same for the same seed. */
export function delayFrom(seed: number): number {
  const [delayMs = 0] = fc.sample(fc.noBias(fc.nat(maxDelayMs)), { seed, numRuns: 1 });
  return delayMs;
}

/** For each environment its own; the same for the same seed. */
export function movesFrom(seed: number, environments: number): Moves[] {
  const [all] = fc.sample(fc.array(moves, { minLength: environments, maxLength: environments }), { seed, numRuns: 1 });
  if (!all) throw new Error('fast-check gave no moves');
  return all;
}

/** Where the last of the moves leads. */
export function endOf(moves: Moves): 'built' | 'empty' {
  const last = moves.at(-1);
  return last === undefined ? 'empty' : ENDS[last.ask];
}
