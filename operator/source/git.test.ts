import { expect, test } from '@jest/globals';
import { SourceRefusedError, SourceUnreachableError } from './errors.ts';
import { sourceError } from './git.ts';

test.each([
  ["fatal: Authentication failed for 'http://x/'", 'AuthenticationFailed'],
  ["fatal: could not read Username for 'http://x': terminal prompts disabled", 'AuthenticationFailed'],
  ["remote: Not Found\nfatal: repository 'http://x/' not found", 'NotFound'],
  ["fatal: couldn't find remote ref refs/heads/x", 'RefNotFound'],
  ['fatal: unable to update url base from redirection', 'Refused'],
])('%j: the user must act', (stderr, reason) => {
  const error = sourceError(stderr, new Error('exit 128'));
  expect(error).toBeInstanceOf(SourceRefusedError);
  expect(error).toMatchObject({ reason });
});

test.each(["fatal: unable to access 'http://x/': Connection refused", 'fatal: the remote end hung up', ''])(
  '%j: it may be better later',
  (stderr) => {
    expect(sourceError(stderr, new Error('exit 128'))).toBeInstanceOf(SourceUnreachableError);
  },
);

test('a git that was killed for its time did not get an answer', () => {
  expect(sourceError('', Object.assign(new Error('killed'), { killed: true })).message).toMatch(
    /did not answer in time/,
  );
});
