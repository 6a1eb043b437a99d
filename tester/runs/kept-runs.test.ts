import { expect, test } from '@jest/globals';
import { KeptRuns } from './kept-runs.ts';

/** `a1:40` is a run of the tenant a with 40 bytes. Each run ends a second after the one before. */
function dropped(...runs: string[]): string[][] {
  const kept = new KeptRuns({ bytes: 100, ms: 5000 });
  return runs.map((run, index) => {
    const [id = '', bytes] = run.split(':');
    return kept.add({ id, tenant: id.slice(0, 1), bytes: Number(bytes), endedAt: index * 1000 });
  });
}

test.each([
  ['drops the oldest of the tenant that has most', ['b1:20', 'a1:40', 'a2:30', 'a3:30'], [[], [], [], ['a1']]],
  ['does not count expired runs', ['a1:90', 'b1:1', 'b2:1', 'b3:1', 'b4:1', 'a2:90'], [[], [], [], [], [], []]],
  ['drops a run once', ['a1:60', 'a2:60', 'a3:60'], [[], ['a1'], ['a2']]],
])('%s', (_what, runs, gone) => {
  expect(dropped(...runs)).toEqual(gone);
});
