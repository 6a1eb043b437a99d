import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { SourceRefusedError, SourceUnreachableError } from './errors.ts';
import { sourceError, withGit } from './git.ts';

test.each([
  ["fatal: Authentication failed for 'http://x/'", 'AuthenticationFailed'],
  ["fatal: could not read Username for 'http://x': terminal prompts disabled", 'AuthenticationFailed'],
  ["remote: Not Found\nfatal: repository 'http://x/' not found", 'NotFound'],
  ["fatal: couldn't find remote ref refs/heads/x", 'RefNotFound'],
  ['fatal: unable to update url base from redirection', 'Refused'],
])('%j: the user must act', (stderr, reason) => {
  const error = sourceError(stderr, { error: new Error('exit 128') });
  expect(error).toBeInstanceOf(SourceRefusedError);
  expect(error).toMatchObject({ reason });
});

test.each(["fatal: unable to access 'http://x/': Connection refused", 'fatal: the remote end hung up', ''])(
  '%j: it may be better later',
  (stderr) => {
    expect(sourceError(stderr, { error: new Error('exit 128') })).toBeInstanceOf(SourceUnreachableError);
  },
);

test('a git that was killed for its time did not get an answer', () => {
  expect(sourceError('', 'late').message).toMatch(/did not answer in time/);
});

test('more output than is read, and the time that curl measured', () => {
  expect(sourceError('', 'too much')).toBeInstanceOf(SourceRefusedError);
  const words = 'fatal: unable to access: Failed to connect to x port 80 after 34 ms: refused\nCommand failed: git';
  expect(sourceError(words, { error: new Error('1') }).message).toBe(
    'the Git host did not answer: unable to access: Failed to connect to x port 80: refused',
  );
});

test('a git that does not end is ended with all that it started', async () => {
  const started = Date.now();
  const run = withGit(
    { scratch: tmpdir(), config: '[alias]\n\tlinger = "!sleep 60 & sleep 60"\n', timeoutMs: 300 },
    (git) => git.run(['linger']),
  );
  await expect(run).rejects.toThrow(SourceUnreachableError);
  expect(Date.now() - started).toBeLessThan(5000);
});
