import { expect, test } from '@jest/globals';
import { contentsText } from './group-contents.ts';

const of = (empty: number, built: number) => ({
  counts: {
    status: { empty, created: 0, building: 0, built },
    health: { failed: 0, degraded: 0, progressing: 0, healthy: built, inactive: empty },
    asleep: 0,
  },
});

test.each([
  [[], 'no repositories'],
  [[of(1, 0)], '1 repository and 1 environment'],
  [[of(11, 2), of(0, 1)], '2 repositories and 14 environments, of which 3 have contents'],
  [[of(0, 1)], '1 repository and 1 environment, of which 1 has contents'],
])('counts what %j contain', (repositories, expected) => {
  expect(contentsText(repositories)).toBe(expected);
});
