import { expect, test } from '@jest/globals';
import { RequestError, sentenceOf } from './errors.ts';

test.each([
  [
    404,
    'no pod of the service db runs now. GET …/environment/{environmentID} reports why',
    'No pod of the service db runs now.',
  ],
  [409, 'the environment has no contents. Send PUT to create them', 'The environment has no contents.'],
  [403, 'only an owner can do this. Ask one of them', 'Only an owner can do this. Ask one of them.'],
  [422, 'Use POST …/build', 'Use POST …/build.'],
  [502, 'it failed', 'It failed. Try again; if it fails again, ask an administrator.'],
  [0, 'fetch failed', 'The server did not answer. Check your connection, then try again.'],
])('an error with status %i: %s', (status, message, expected) => {
  expect(sentenceOf(new RequestError(status, message))).toBe(expected);
});
