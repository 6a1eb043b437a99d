import { describe, expect, test } from '@jest/globals';
import { EXAMPLE_FACTS, OwnVariables } from '../own-variables.ts';
import { memoryFiles } from '../memory-files.ts';
import { readServiceFile } from '../parse.ts';
import { oneService } from '../testing/one-service.ts';

const files = {
  'a.env': '# first\nA=1\nB="two words"\nC=${A}-${FROM}\nexport D=\'${A}\'\n',
  'b.env': 'A=over\n',
  'raw.env': 'A="1"\nB=${A}\n',
  'broken.env': 'A=1\nB="open\n',
  'odd.env': '9A=1\n',
};

describe('environment and env_file', () => {
  test.each<[string, Record<string, string>]>([
    ['env_file: a.env', { A: '1', B: 'two words', C: '1-here', D: '${A}' }],
    ['env_file: [./a.env, b.env]', { A: 'over', B: 'two words', C: '1-here', D: '${A}' }],
    ['env_file: b.env\nenvironment: { A: own }', { A: 'own' }],
    ['env_file: [{ path: b.env }, { path: none.env, required: false }]', { A: 'over' }],
    ['env_file: [{ path: raw.env, format: raw }]', { A: '"1"', B: '${A}' }],
    ['environment: [FROM, A=1]', { A: '1', FROM: 'here' }],
    ['environment: { FROM: , A: "${FROM}!" }', { A: 'here!', FROM: 'here' }],
    ['environment:', {}],
  ])('%s', async (lines, expected) => {
    const { service, errorLines, warningLines } = await oneService(`${lines}\nports: ["1"]`, {
      files,
      variables: { FROM: 'here' },
    });
    expect([...errorLines, ...warningLines]).toEqual([]);
    expect(service?.environment).toEqual(expected);
  });

  test('reports a variable of an env file that is set nowhere once, with its line', async () => {
    const { service, warnings } = await oneService('env_file: .env\nports: ["1"]', {
      files: { '.env': 'A=1\nSECRET=abc$def\n' },
    });
    expect(service?.environment).toEqual({ A: '1', SECRET: 'abc' });
    expect(warnings).toEqual([
      expect.objectContaining({ file: '.env', line: 2, message: expect.stringContaining('variable def is not set') }),
    ]);
  });

  test('omits a name that is set nowhere, with a warning', async () => {
    const { service, warningLines } = await oneService('environment: [A]\nports: ["1"]');
    expect(service?.environment).toEqual({});
    expect(warningLines).toEqual([
      '1:15 environment[0] the variable "A" is not set, so it is left out: set it, or remove it here',
    ]);
  });

  test.each([
    [
      'env_file: none.env',
      '1:11 env_file "none.env" cannot be read, because there is no such file in the repository: add the file, or correct the path',
    ],
    ['env_file: ../a.env', '1:11 env_file the path "../a.env" leads out'],
    ['env_file: /etc/environment', '1:11 env_file the path "/etc/environment" is absolute'],
    ['env_file: [{ path: a.env, format: toml }]', '1:12 env_file[0] "toml" is not a format'],
    ['env_file: [{ required: true }]', '1:12 env_file[0] has no path'],
    ['env_file: odd.env', '1:11 env_file "9A" of "odd.env" is not a name'],
  ])('refuses %s', async (lines, expected) => {
    const { errorLines } = await oneService(lines, { files });
    expect(errorLines).toEqual([expect.stringContaining(expected)]);
  });

  test('reports an error of an env file with its line, without its values', async () => {
    const { errors } = await oneService('env_file: broken.env', { files });
    expect(errors).toMatchObject([{ file: 'broken.env', line: 2 }]);
    expect(JSON.stringify(errors)).not.toContain('open\\n');
  });
});

describe('variables for builds only', () => {
  const read = (service: string, top = '') =>
    readServiceFile({
      files: memoryFiles({
        'compose.yaml': `services: { web: { ${service}, ports: ["1"] } }\n${top}`,
        'a.env': 'A=${TOKEN}',
      }),
      variables: new Map([['TOKEN', { value: 'hunter2hunter2', visibility: 'buildtime' as const }]]),
      own: new OwnVariables(EXAMPLE_FACTS),
      settings: { mode: 'repo' },
    });

  test('can be used in arguments and secrets of a build', async () => {
    const top = 'secrets: { token: { environment: TOKEN } }';
    const { serviceFile, contents, errors } = await read('build: { args: [TOKEN], secrets: [token] }', top);
    expect(errors).toEqual([]);
    expect(serviceFile?.services[0]?.build?.args).toEqual({ TOKEN: 'hunter2hunter2' });
    expect([...contents.values()].map((bytes) => bytes.get('content')?.toString())).toEqual(['hunter2hunter2']);
  });

  test.each([
    ['image: a, environment: [TOKEN]', ''],
    ['image: a, environment: { A: "${TOKEN}" }', ''],
    ['image: a, env_file: a.env', ''],
    ['image: a, secrets: [token]', 'secrets: { token: { environment: TOKEN } }'],
    ['image: a, configs: [token]', 'configs: { token: { environment: TOKEN } }'],
  ])('are refused in %s, without reporting the value', async (service, top) => {
    const { errors, serviceFile } = await read(service, top);
    expect(serviceFile).toBeUndefined();
    expect(errors.map(({ message }) => message).join('\n')).toMatch(/for builds only/);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });
});
