import { expect, test } from '@jest/globals';
import { mergeConditions } from './conditions.ts';

const first = new Date('2026-01-01T00:00:00.500Z');
const second = new Date('2026-01-02T00:00:00Z');

test('changes the transition time only with the status, keeps other conditions, and sorts by type', () => {
  const before = mergeConditions(
    undefined,
    [
      { type: 'Ready', status: 'False', reason: 'Building', message: 'building' },
      { type: 'Built', status: 'False', reason: 'Running', message: '' },
    ],
    1,
    first,
  );
  expect(before.map((condition) => condition.type)).toEqual(['Built', 'Ready']);
  const after = mergeConditions(
    before,
    [{ type: 'Ready', status: 'False', reason: 'Waiting', message: 'w' }],
    2,
    second,
  );
  expect(after).toEqual([
    before[0],
    {
      type: 'Ready',
      status: 'False',
      reason: 'Waiting',
      message: 'w',
      observedGeneration: 2,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]);
});
