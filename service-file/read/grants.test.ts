import { describe, expect, test } from '@jest/globals';
import { oneService } from '../testing/one-service.ts';

const rest = `configs:
  plain: { content: plain text }
  filled: { content: "$\{PASSWORD}" }
  file: { file: conf/a.conf }
  variable: { environment: PASSWORD }
  outside: { external: true }
  nothing: {}
  two: { content: a, environment: B }
  missing: { file: nowhere.txt }
  above: { file: ../up.txt }
secrets:
  token: { file: ./token.txt }
  password: { environment: PASSWORD }
  unset: { environment: NOBODY }
`;

/** Returns only the named declarations, so that errors of the others are not reported. */
function declarations(...names: string[]): string {
  return rest
    .split('\n')
    .filter((line) => !line.startsWith('  ') || names.some((name) => line.startsWith(`  ${name}:`)))
    .join('\n');
}

const read = (lines: string, ...names: string[]) =>
  oneService(`${lines}\nports: ["1"]`, {
    rest: declarations(...names),
    files: { 'conf/a.conf': 'a', 'token.txt': 't0ken' },
    variables: { PASSWORD: 'hunter2hunter2' },
  });

describe('configs and secrets', () => {
  test.each<[string, string, string, number, string, boolean]>([
    ['configs: [plain]', 'plain', '/plain', 0o444, 'plain text', false],
    ['configs: [filled]', 'filled', '/filled', 0o444, 'hunter2hunter2', true],
    ['configs: [{ source: file, target: /etc/a/b.conf }]', 'file', '/etc/a/b.conf', 0o444, 'a', false],
    ['configs: [{ source: file, mode: 0400 }]', 'file', '/file', 0o400, 'a', false],
    ['configs: [variable]', 'variable', '/variable', 0o444, 'hunter2hunter2', true],
    ['secrets: [token]', 'token', '/run/secrets/token', 0o444, 't0ken', true],
    ['secrets: [{ source: token, target: other, mode: "0o440" }]', 'token', '/run/secrets/other', 0o440, 't0ken', true],
    ['secrets: [{ source: password, target: /p }]', 'password', '/p', 0o444, 'hunter2hunter2', true],
  ])('%s', async (lines, name, target, mode, text, secret) => {
    const { service, serviceFile, contents, errorLines, warningLines } = await read(lines, name);
    expect([...errorLines, ...warningLines]).toEqual([]);
    const [bundle] = serviceFile?.bundles ?? [];
    expect(bundle).toMatchObject({ secret, files: [{ mode }] });
    const key = bundle?.files[0]?.key ?? '';
    expect(service?.mounts).toEqual([{ type: 'files', bundle: bundle?.name, target, key }]);
    const stored = bundle?.files[0]?.stored;
    expect(
      contents
        .get(stored?.object ?? '')
        ?.get(stored?.key ?? '')
        ?.toString(),
    ).toBe(text);
  });

  test('are empty with a warning if their variable is not set', async () => {
    const { contents, warningLines } = await read('secrets: [unset]', 'unset');
    expect([...contents.values()].map((bytes) => [...bytes.values()].map(String))).toEqual([['']]);
    expect(warningLines).toEqual([expect.stringContaining('the variable "NOBODY" is not set')]);
  });

  test('ignore uid and gid with a warning', async () => {
    const { warningLines, service } = await read('secrets: [{ source: token, uid: "1", gid: "1" }]', 'token');
    expect(warningLines.map((line) => line.slice(0, 30))).toEqual([
      '1:28 secrets[0].uid ignored: t',
      '1:38 secrets[0].gid ignored: t',
    ]);
    expect(service?.mounts).toHaveLength(1);
  });

  test.each([
    [
      'configs: [outside]',
      'outside',
      'configs.outside.external refused: external configs and secrets do not exist here',
    ],
    ['configs: [nothing]', 'nothing', 'configs.nothing has no content: add one of file, content, environment'],
    ['configs: [two]', 'two', 'configs.two.environment beside "content": only one'],
    [
      'configs: [missing]',
      'missing',
      'configs.missing.file "nowhere.txt" cannot be read, because there is no such file in the repository: add the file, or correct the path',
    ],
    ['configs: [above]', 'above', 'configs.above.file the path "../up.txt" leads out'],
    ['configs: [plan]', 'plain', 'configs[0] "plan" is not declared: did you mean "plain"?'],
    ['secrets: [none]', 'token', 'secrets[0] "none" is not declared: add it to the top level\'s secrets'],
    ['secrets: [{ source: token, mode: 440 }]', 'token', 'secrets[0].mode "440" is not a mode: write it in octal'],
    ['secrets: [{ source: token, mode: "999" }]', 'token', 'secrets[0].mode "999" is not a mode'],
    ['secrets: [{ target: /a }]', 'token', 'secrets[0] has no source'],
    ['secrets: [{ source: token, target: ../../proc/x }]', 'token', 'secrets[0] nothing can be mounted at "/proc/x"'],
    ['secrets: [token, { source: token }]', 'token', 'secrets[1] something else is mounted at "/run/secrets/token"'],
  ])('refuse %s', async (lines, name, expected) => {
    const { errors } = await read(lines, name);
    expect(errors.map(({ path, message }) => `${path.replace('services.web.', '')} ${message}`)).toEqual([
      expect.stringContaining(expected),
    ]);
  });

  test('are not read if no service uses them', async () => {
    const { errorLines } = await read('', 'missing', 'plain');
    expect(errorLines).toEqual([]);
  });
});

describe('build secrets', () => {
  test('are read by their IDs', async () => {
    const { service, serviceFile, errorLines } = await read(
      'build: { secrets: [token, { source: password, target: npm.token }] }',
      'token',
      'password',
    );
    expect(errorLines).toEqual([]);
    expect(service?.build?.secrets).toEqual([
      { id: 'npm.token', bundle: expect.stringMatching(/^files-/), key: 'npm.token' },
      { id: 'token', bundle: expect.stringMatching(/^files-/), key: 'token' },
    ]);
    expect(serviceFile?.bundles.every(({ secret }) => secret)).toBe(true);
    expect(service?.mounts).toEqual([]);
  });

  test.each([
    ['build: { secrets: [{ source: token, target: "a,b" }] }', '"a,b" is not an id for a build secret'],
    ['build: { secrets: [token, token] }', 'the build secret "token" is listed twice'],
    ['build: { secrets: [tokn] }', 'did you mean "token"?'],
  ])('refuse %s', async (lines, expected) => {
    const { errorLines } = await read(lines, 'token');
    expect(errorLines).toEqual([expect.stringContaining(expected)]);
  });
});
