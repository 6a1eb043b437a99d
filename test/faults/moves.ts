import fc from 'fast-check';

/** What a user asks of an environment by REST, and where it ends if nothing follows. */
const ENDS = { put: 'built', rebuild: 'built', delete: 'empty' } as const;
export type Ask = keyof typeof ENDS;

/** One after the other, each so long after the one before. */
export type Moves = readonly { ask: Ask; afterMs: number }[];

export interface Plan {
  moves: Moves[];
  /** How long after the builds began to write the strike comes. */
  strikeAfterMs: number;
}

const moves = fc.array(fc.record({ ask: fc.constantFrom<Ask>('put', 'rebuild', 'delete'), afterMs: fc.nat(4000) }), {
  minLength: 1,
  maxLength: 5,
});

/** The same for the same seed. */
export function planFrom(seed: number, environments: number): Plan {
  const plan = fc.record({
    moves: fc.array(moves, { minLength: environments, maxLength: environments }),
    strikeAfterMs: fc.nat(5000),
  });
  const [first] = fc.sample(plan, { seed, numRuns: 1 });
  if (!first) throw new Error('fast-check gave no plan');
  return first;
}

/** Where the last of the moves leads. */
export function endOf(moves: Moves): 'built' | 'empty' {
  const last = moves.at(-1);
  return last === undefined ? 'empty' : ENDS[last.ask];
}
