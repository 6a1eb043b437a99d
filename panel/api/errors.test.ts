import { expect, test } from '@jest/globals';
import { detailsBeside, faultOf, RequestError, sentenceOf, shownFault } from './errors.ts';

test.each([
  [
    404,
    'no pod of the service db runs now. GET …/environment/{environmentID} reports why',
    'No pod of the service db runs now.',
  ],
  [409, 'the environment has no contents. Send PUT to create them', 'The environment has no contents.'],
  [403, 'only an owner can do this. Ask one of them', 'Only an owner can do this. Ask one of them.'],
  [422, 'Use POST …/build', 'Use POST …/build.'],
  [422, 'the body is not valid. Correct the fields in details', 'The body is not valid. Correct the fields.'],
  [422, 'the repository cannot be used, for the reason in details', 'The repository cannot be used.'],
  [502, 'it failed', 'It failed. Try again; if it fails again, ask an administrator.'],
  [0, 'fetch failed', 'The server did not answer. Check your connection, then try again.'],
])('an error with status %i: %s', (status, message, expected) => {
  expect(sentenceOf(new RequestError(status, message))).toBe(expected);
});

test('shows each detail once: at its field, or beside the form', () => {
  const address = { path: 'params.origin', message: 'there is no repository' };
  const length = { path: 'name', message: 'must have a letter' };
  const other = { path: 'sync', message: 'must be true or false' };
  const error = new RequestError(422, 'not valid', [address, length, other]);
  expect(faultOf(error, 'params.origin')).toBe('there is no repository');
  expect(detailsBeside(error, new Set(['name', 'params.origin']))).toEqual([other]);
  expect(detailsBeside(error)).toEqual([address, length, other]);
  expect(shownFault(length.message)).toBe('Must have a letter.');
});
