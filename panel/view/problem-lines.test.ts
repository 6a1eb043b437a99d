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
  ['ServiceFileInvalid', two, { first: 'compose.yaml:3:5: services.web: is wrong', more: 'and 1 more' }],
  [
    'ServiceFileInvalid',
    `${two}\ncompose.yaml:9:1: an…`,
    { first: 'compose.yaml:3:5: services.web: is wrong', more: 'and more' },
  ],
  ['BuildFailed', failed, { first: 'image of web failed: exit code 1', more: '' }],
  ['RolloutFailed', 'not ready', { first: 'not ready', more: '' }],
  ['ServiceFileInvalid', '', { first: '', more: '' }],
])('shows %s in one line', (reason, message, expected) => {
  expect(problemInOneLine(reason, message)).toEqual(expected);
});
