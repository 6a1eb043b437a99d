import { expect, test } from '@jest/globals';
import { deriveState } from './state.ts';

test.each([
  [false, false, false, 'empty'],
  [false, true, true, 'empty'],
  [true, false, false, 'created'],
  [true, true, false, 'building'],
  [true, true, true, 'building'],
  [true, false, true, 'built'],
])('present %s, building %s, deployed %s → %s', (present, building, deployed, state) => {
  expect(deriveState({ present, building, deployed })).toBe(state);
});
