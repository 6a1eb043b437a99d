import { expect, test } from '@jest/globals';
import { deriveState } from './state.ts';

test.each([
  [false, false, false, false, 'empty'],
  [false, true, true, true, 'empty'],
  [true, false, false, false, 'empty'],
  [true, true, false, false, 'created'],
  [true, false, true, false, 'building'],
  [true, true, true, false, 'building'],
  [true, true, true, true, 'building'],
  [true, true, false, true, 'built'],
])(
  'derives the state from present %s, set up %s, building %s, deployed %s: %s',
  (present, setUp, building, deployed, state) => {
    expect(deriveState({ present, setUp, building, deployed })).toBe(state);
  },
);
