import { expect, test } from '@jest/globals';
import { KeptRuns } from './kept-runs.ts';

/** `a1:40` is a run of the group a with 40 bytes. Each run ends a second after the one before. */
function dropped(...runs: string[]): string[][] {
  const kept = new KeptRuns({ bytes: 100, ms: 5000 });
  return runs.map((run, index) => {
    const [id = '', bytes] = run.split(':');
    return kept.add({ id, group: id.slice(0, 1), bytes: Number(bytes), endedAt: index * 1000 });
  });
}

test.each([
  ['keeps runs that fit', ['a1:40', 'a2:60'], [[], []]],
  ['the oldest go', ['a1:40', 'a2:40', 'a3:40'], [[], [], ['a1']]],
  ['as many as it takes', ['a1:30', 'a2:30', 'a3:30', 'a4:80'], [[], [], [], ['a1', 'a2', 'a3']]],
  ['of the group that has most, not the oldest of all', ['b1:20', 'a1:40', 'a2:30', 'a3:30'], [[], [], [], ['a1']]],
  ['a group drives out its own', ['b1:40', 'a1:40', 'a2:40', 'a3:40'], [[], [], ['a1'], ['a2']]],
  ['drops a run that is too large by itself', ['a1:101', 'a2:10'], [['a1'], []]],
  ['does not count expired runs', ['a1:90', 'b1:1', 'b2:1', 'b3:1', 'b4:1', 'a2:90'], [[], [], [], [], [], []]],
])('%s', (_what, runs, gone) => {
  expect(dropped(...runs)).toEqual(gone);
});
