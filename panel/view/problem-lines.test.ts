import { expect, test } from '@jest/globals';
import { problemInOneLine, problemLines } from './problem-lines.ts';

const two = 'compose.yaml:3:5: services.web: is wrong\ncompose.yaml:8:18: must be a port';
const failed = 'image of web failed: exit code 1\n> vite build\nerror';

test('splits equal problems into a list, and puts the output of a program apart', () => {
  expect(problemLines('BuildFailed', two)).toEqual({ problems: two.split('\n'), output: [] });
  expect(problemLines('ServiceFileInvalid', 'shop: one\nshop: two').problems).toEqual(['shop: one', 'shop: two']);
  expect(problemLines('BuildFailed', failed)).toEqual({
    problems: ['image of web failed: exit code 1'],
    output: ['> vite build', 'error'],
  });
});

test.each([
  ['ServiceFileInvalid', two, 'compose.yaml:3:5: services.web: is wrong, and 1 more'],
  ['ServiceFileInvalid', `${two}\ncompose.yaml:9:1: an…`, 'compose.yaml:3:5: services.web: is wrong, and more'],
  ['BuildFailed', failed, 'image of web failed: exit code 1'],
  ['RolloutFailed', 'not ready', 'not ready'],
])('shows %s in one line', (reason, message, expected) => {
  expect(problemInOneLine(reason, message)).toBe(expected);
});
