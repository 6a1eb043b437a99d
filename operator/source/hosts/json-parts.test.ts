import { expect, test } from '@jest/globals';
import { hasMoreParts } from './json-parts.ts';

test.each<[string, number]>([
  ['1', 0],
  ['[1,2]', 2],
  ['[{"a":[1]},{"b":2}]', 5],
  ['"[{,"', 0],
  [String.raw`["a\"[,",1]`, 2],
  [String.raw`["a\\",[1]]`, 3],
])('%s', (text, parts) => {
  expect([hasMoreParts(text, parts), hasMoreParts(text, parts - 1)]).toEqual([false, parts > 0]);
});
