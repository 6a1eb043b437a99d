import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { KeyNotAcceptedError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { withGit } from './git.ts';
import { sourceError } from './git-errors.ts';

test.each([
  ["fatal: Authentication failed for 'http://x/'", 'AuthenticationFailed'],
  ["fatal: could not read Username for 'http://x': terminal prompts disabled", 'AuthenticationFailed'],
  ["remote: Not Found\nfatal: repository 'http://x/' not found", 'NotFound'],
  ["fatal: couldn't find remote ref refs/heads/x", 'RefNotFound'],
  ['fatal: unable to update url base from redirection', 'Refused'],
  ["fatal: unable to access 'http://x/': The requested URL returned error: 301", 'Refused'],
  ["fatal: unable to access 'http://x/': The requested URL returned error: 403", 'AuthenticationFailed'],
  ['Host key verification failed.\nfatal: Could not read from remote repository.', 'HostKeyChanged'],
  ['ERROR: Repository not found.\nfatal: Could not read from remote repository.', 'NotFound'],
  ['remote: ERROR: The project you were looking for could not be found or you may not view it.', 'NotFound'],
  ['repository access denied. deployment key is not associated with the requested repository.', 'NotFound'],
  ['Gitea: Cannot find repository: acme/shop\nfatal: Could not read from remote repository.', 'NotFound'],
])('requires the user to act after %j', (stderr, reason) => {
  const error = sourceError(stderr, { error: new Error('exit 128') });
  expect(error).toBeInstanceOf(SourceRefusedError);
  expect(error).toMatchObject({ reason });
});

const answered = (url: string, status: number) =>
  `fatal: unable to access '${url}': The requested URL returned error: ${status}`;

test.each([
  "fatal: unable to access 'http://x/': Connection refused",
  'fatal: the remote end hung up',
  '',
  answered('http://x/redirect-service.git/', 503),
  answered("http://x/it's-a-redirect.git/", 500),
  answered('http://x/error:%20404.git/', 502),
  `remote: service not found in the pool\n${answered('http://x/', 503)}`,
  answered('http://x/', 429),
  'ssh: Could not resolve hostname redirect.example.com: Temporary failure in name resolution',
])('retries after %j', (stderr) => {
  expect(sourceError(stderr, { error: new Error('exit 128') })).toBeInstanceOf(SourceUnreachableError);
});

test.each([
  ['git@git.example.com: Permission denied (publickey).\r\nfatal: Could not read from remote repository.'],
  ['Received disconnect from 203.0.113.7 port 22:2: Too many authentication failures'],
])('waits for the key after %j', (stderr) => {
  expect(sourceError(stderr, { error: new Error('exit 128') })).toBeInstanceOf(KeyNotAcceptedError);
});

test('prefers the message of ssh to that of git', () => {
  const words =
    'ssh: connect to host 203.0.113.7 port 22: Connection refused\r\nfatal: Could not read from remote repository.\n';
  expect(sourceError(words, { error: new Error('1') }).message).toBe(
    'the Git host did not respond: connect to host 203.0.113.7 port 22: Connection refused',
  );
});

test('reports one line without control characters of what an SSH server sends', () => {
  const { message } = sourceError(`fatal: \u001b[2J${'x'.repeat(5000)}`, { error: new Error('1') });
  expect(message).toMatch(/^the Git host did not respond: \[2Jx+$/);
  expect(message.length).toBeLessThan(400);
});

test('reports a git process that was killed for its time as a host that did not respond', () => {
  expect(sourceError('', 'late').message).toMatch(/did not respond in time/);
});

test('reports too much output, and omits the time that curl measured', () => {
  expect(sourceError('', 'too much')).toBeInstanceOf(SourceRefusedError);
  const words = 'fatal: unable to access: Failed to connect to x port 80 after 34 ms: refused\nCommand failed: git';
  expect(sourceError(words, { error: new Error('1') }).message).toBe(
    'the Git host did not respond: unable to access: Failed to connect to x port 80: refused',
  );
});

test('kills a git process that does not end, with all its children', async () => {
  const started = Date.now();
  const run = withGit(
    {
      scratch: tmpdir(),
      flow: { tenant: 'x', group: 'x', host: 'x' },
      files: () => ({ gitconfig: '[alias]\n\tlinger = "!sleep 60 & sleep 60"\n' }),
      timeoutMs: 300,
    },
    (git) => git.run(['linger']),
  );
  await expect(run).rejects.toThrow(SourceUnreachableError);
  expect(Date.now() - started).toBeLessThan(5000);
});

test('runs git with only the given input', async () => {
  const hashes = await withGit(
    { scratch: tmpdir(), files: () => ({}), flow: { tenant: 'x', group: 'x', host: 'x' }, timeoutMs: 10_000 },
    async (git) => [
      (await git.run(['hash-object', '--stdin'], 'x')).toString(),
      (await git.run(['hash-object', '--stdin'])).toString(),
    ],
  );
  expect(hashes).toEqual(['c1b0730e0133447badcfd47fd144e254807b06e1\n', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n']);
});

test('returns the output of several git processes in order, whatever it contains', async () => {
  const words = ["it's", 'a "b" $HOME `id` \\', ';', '&& false', '*'];
  const options = {
    scratch: tmpdir(),
    files: () => ({ gitconfig: '[alias]\n\ttell = "!printf \'%s|\'"\n' }),
    flow: { tenant: 'x', group: 'x', host: 'x' },
    timeoutMs: 10_000,
  };
  const script = 'for word; do git tell "$word"; done';
  const output = await withGit(options, (git) => git.runScript(script, words));
  expect(output).toBe(words.map((word) => `${word}|`).join(''));
});

test('reports the git process that failed in a script', async () => {
  const options = {
    scratch: tmpdir(),
    files: () => ({}),
    flow: { tenant: 'x', group: 'x', host: 'x' },
    timeoutMs: 10_000,
  };
  const script = 'set -e\ngit init --quiet --bare one\ngit -C one rev-parse --verify "$1"\ngit init --quiet two';
  await withGit(options, async (git) => {
    await expect(git.runScript(script, ['nothing'])).rejects.toThrow(/Needed a single revision/);
  });
});

test('starts no further process once all together took too long', async () => {
  let seconds = 0;
  const ran: string[] = [];
  const options = {
    scratch: tmpdir(),
    files: () => ({}),
    flow: { tenant: 'x', group: 'x', host: 'x' },
    timeoutMs: 10_000,
    totalMs: 60_000,
  };
  const run = withGit({ ...options, now: () => 1000 * (seconds += 10) }, async (git) => {
    for (;;) ran.push((await git.run(['version'])).toString());
  });
  await expect(run).rejects.toMatchObject({ reason: 'TooSlow', message: expect.stringMatching(/longer than 60 s/) });
  expect(ran).toHaveLength(6);
});
