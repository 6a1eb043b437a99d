import { describe, expect, test } from '@jest/globals';
import { memoryFiles } from './memory-files.ts';
import {
  aliasVariables,
  containerVariables,
  EXAMPLE_FACTS,
  isReservedName,
  namedVariables,
  OwnVariables,
  unsetAdvice,
  type EnvironmentFacts,
} from './own-variables.ts';
import { readServiceFile } from './parse.ts';
import type { Variable } from './variables.ts';

type Ref = EnvironmentFacts['ref'];

interface Given {
  ref?: Ref;
  files?: Record<string, string>;
  variables?: Record<string, Partial<Variable>>;
}

async function read(text: string, { ref = EXAMPLE_FACTS.ref, files = {}, variables = {} }: Given = {}) {
  const own = new OwnVariables({ ...EXAMPLE_FACTS, ref, commit: 'c0ffee', build: 7 });
  const given = Object.entries(variables).map(
    ([name, variable]) => [name, { value: '', visibility: 'always', ...variable }] as const,
  );
  const parsed = await readServiceFile({
    files: memoryFiles({ ...files, 'compose.yaml': text }),
    variables: new Map<string, Variable>(given),
    own,
    settings: { mode: 'repo' },
  });
  return {
    own,
    services: parsed.serviceFile?.services ?? [],
    errors: parsed.errors.map(({ path, message }) => `${path}: ${message}`),
    warnings: parsed.warnings.map(({ message }) => message).filter((message) => !message.includes('web address')),
  };
}

const web = (lines: string) => `services:\n  web:\n    image: a\n${lines}\n`;

test.each<[Ref, Record<string, string>]>([
  [
    { type: 'branch', name: 'feature/a' },
    { branch: 'feature/a', tag: '', pullRequest: '', type: 'branch' },
  ],
  [
    { type: 'tag', name: 'v1.2' },
    { branch: '', tag: 'v1.2', pullRequest: '', type: 'tag' },
  ],
  [
    { type: 'pull request', name: '42' },
    { branch: '', tag: '', pullRequest: '42', type: 'pull-request' },
  ],
])('the variables of containers describe the ref %j', (ref, { branch, tag, pullRequest, type }) => {
  expect(containerVariables({ ...EXAMPLE_FACTS, ref })).toEqual({
    COPPICE_ENVIRONMENT: 'group.repository-main',
    COPPICE_GROUP: 'group',
    COPPICE_REPOSITORY: 'group.repository',
    COPPICE_REF: ref.name,
    COPPICE_REF_TYPE: type,
    COPPICE_BRANCH: branch,
    COPPICE_TAG: tag,
    COPPICE_PULL_REQUEST: pullRequest,
    COPPICE_WEB_URL: 'https://repository-main--group.example.com',
    COPPICE_WEB_HOST: 'repository-main--group.example.com',
  });
});

test('a commit changes none of the variables of containers', () => {
  const next = { ...EXAMPLE_FACTS, commit: '1'.repeat(40), build: 2 };
  expect(containerVariables(next)).toEqual(containerVariables(EXAMPLE_FACTS));
  expect(namedVariables(next)).not.toEqual(namedVariables(EXAMPLE_FACTS));
});

test.each(['a', 'admin', 'my-admin-2', 'a'.repeat(40)])('the alias %s has an address and a host', (alias) => {
  const own = new OwnVariables(EXAMPLE_FACTS);
  const variables = Object.entries(aliasVariables(EXAMPLE_FACTS, alias));
  expect(variables.map(([, value]) => value)).toEqual([
    `https://${alias}---repository-main--group.example.com`,
    `${alias}---repository-main--group.example.com`,
  ]);
  for (const [name, value] of variables) {
    expect(own.get(name)?.value).toBe(value);
    expect(own.usedAliases()).toContainEqual([name, alias]);
  }
});

test.each(['COPPICE_WEB_URL_', 'COPPICE_WEB_URL_a', 'COPPICE_WEB_URL_1A', 'COPPICE_WEB_URL_A_', 'COPPICE_X', 'HOME'])(
  'sets no %s',
  (name) => expect(new OwnVariables(EXAMPLE_FACTS).has(name)).toBe(false),
);

test.each([
  ['COPPICE_', true],
  ['COPPICE_X', true],
  ['COPPICE', false],
  ['MY_COPPICE_X', false],
  ['coppice_x', false],
])('%s is reserved: %s', (name, expected) => expect(isReservedName(name)).toBe(expected));

describe('in a service file', () => {
  test('are filled in, without a warning', async () => {
    const { services, warnings, errors } = await read(
      web('    environment: { A: "${COPPICE_COMMIT}-$COPPICE_BUILD", B: "${COPPICE_TAG:-none}", C: "${COPPICE_TAG}" }'),
    );
    expect([errors, warnings]).toEqual([[], []]);
    expect(services[0]?.environment).toEqual({ A: 'c0ffee-7', B: 'none', C: '' });
  });

  test.each([
    ['a name', '[COPPICE_COMMIT]'],
    ['the same value', '{ COPPICE_COMMIT: "${COPPICE_COMMIT}" }'],
    ['the same value, with a default for Compose', '["COPPICE_COMMIT=${COPPICE_COMMIT:-dev}"]'],
  ])('are passed on by %s', async (_what, environment) => {
    const { services, errors, warnings } = await read(web(`    environment: ${environment}`));
    expect([errors, warnings]).toEqual([[], []]);
    expect(services[0]?.environment).toEqual({ COPPICE_COMMIT: 'c0ffee' });
  });

  test('override variables of the repository and of .env', async () => {
    const { services } = await read(web('    environment: { A: $COPPICE_REF }'), {
      files: { '.env': 'COPPICE_REF=file' },
      variables: { COPPICE_REF: { value: 'repository' } },
    });
    expect(services[0]?.environment).toEqual({ A: 'main' });
  });

  const reserved = /cannot be set, because names that start with COPPICE_ are for the variables that Coppice sets/;
  test.each([
    ['environment', '    environment: { COPPICE_REF: other }'],
    ['environment, in a list', '    environment: [COPPICE_REF=other]'],
    ['environment, though Coppice sets no such variable', '    environment: { COPPICE_X: "1" }'],
    ['an env file', '    env_file: web.env'],
    ['a raw env file', '    env_file: [{ path: web.env, format: raw }]'],
    ['build.args', '    build: { context: ., args: { COPPICE_COMMIT: other } }'],
  ])('cannot be set in %s', async (_what, lines) => {
    const files = { 'web.env': 'COPPICE_REF=other\n', Dockerfile: 'FROM x\n' };
    const { errors } = await read(web(lines), { files });
    expect(errors).toEqual([expect.stringMatching(reserved)]);
  });

  test('a name that Coppice does not set is an error, even if .env sets it', async () => {
    const { errors } = await read(web('    environment: [COPPICE_COMIT]'), { files: { '.env': 'COPPICE_COMIT=1' } });
    expect(errors).toEqual([expect.stringMatching(reserved)]);
  });

  test.each([
    ['COPPICE_WEB_URL_ADMIN', []],
    [
      'COPPICE_WEB_HOST_OTHER',
      ['nothing answers at COPPICE_WEB_HOST_OTHER: correct its name, or give a public port the alias "other"'],
    ],
  ])('%s is reported if no port has its alias', async (name, expected) => {
    const lines = `    ports: ['80:80']\n    environment: [${name}]\n    x-coppice: { public: [{ port: 80, alias: admin }] }`;
    const { warnings, services } = await read(web(lines));
    expect(warnings).toEqual(expected);
    expect(services[0]?.environment[name]).toMatch(/---repository-main--group\.example\.com$/);
  });

  test.each([
    ['[COPPICE_COMMIT]', false],
    ['[COPPICE_BUILD]', true],
    ['{ A: "${COPPICE_BUILD}" }', true],
  ])('environment %s uses the number of the build: %s', async (environment, expected) => {
    const { own } = await read(web(`    environment: ${environment}`), { files: { '.env': 'COPPICE_BUILD=1' } });
    expect(own.usesBuild).toBe(expected);
  });

  test('a repository with only a Dockerfile gets those that it declares', async () => {
    const own = new OwnVariables(EXAMPLE_FACTS);
    const files = memoryFiles({ Dockerfile: 'FROM x\nARG COPPICE_REF\nARG COPPICE_TAG=none\nEXPOSE 80\n' });
    const { serviceFile } = await readServiceFile({ files, variables: new Map(), own, settings: { mode: 'repo' } });
    expect(serviceFile?.services[0]?.build?.args).toEqual({ COPPICE_REF: 'main', COPPICE_TAG: '' });
    expect(own.usesBuild).toBe(false);
  });
});

/** Git permits all of these, except the line break. */
const hostile = [
  `a'b`,
  `a"b`,
  'a$(reboot)',
  'a`reboot`',
  '${COPPICE_COMMIT}',
  '$$HOME',
  'a;reboot',
  'a|b&c',
  'a#b',
  '}},{{',
  '!reset',
  '- a: b\n  c: d',
  '名前/ветка',
  'x'.repeat(255),
];

describe.each(hostile)('the ref %j', (name) => {
  const ref: Ref = { type: 'branch', name };
  const isPlain = /^[\p{L}x/]+$/u.test(name);

  test('stays one value', async () => {
    const lines =
      '    environment: { A: "<${COPPICE_REF}>", B: $COPPICE_BRANCH, D: "${DOTENV}" }\n    env_file: web.env';
    const { services, errors } = await read(web(lines), {
      ref,
      files: { 'web.env': 'C="${COPPICE_REF}"', '.env': 'DOTENV=${COPPICE_REF}' },
    });
    expect(errors).toEqual([]);
    expect(services[0]?.environment).toEqual({ A: `<${name}>`, B: name, C: name, D: name });
    expect(services).toHaveLength(1);
  });

  test('stays one build argument', async () => {
    const lines = '    build: { context: ., args: { A: "${COPPICE_REF}" } }';
    const { services } = await read(web(lines), { ref, files: { Dockerfile: 'FROM x\n' } });
    expect(services[0]?.build?.args).toEqual({ A: name });
  });

  test.each([
    ['command', '    command: ["sh", "-c", "echo ${COPPICE_BRANCH}"]'],
    ['a split command', '    command: echo ${COPPICE_REF}'],
    ['a command, through .env', '    command: ["sh", "-c", "echo ${DOTENV}"]'],
    ['entrypoint', '    entrypoint: ["echo", "$COPPICE_REF"]'],
    ['a health check', '    healthcheck: { test: "echo ${COPPICE_REF}" }'],
    ['a job', '    x-coppice: { jobs: [{ name: a, command: "echo ${COPPICE_REF}" }] }'],
  ])('is filled into %s only if a shell reads one word', async (_what, lines) => {
    const { errors } = await read(web(lines), { ref, files: { '.env': 'DOTENV=${COPPICE_REF}' } });
    if (isPlain) expect(errors).toEqual([]);
    else
      expect(errors).toContainEqual(expect.stringMatching(/contains the name of a ref with characters that a shell/));
  });
});

test.each([
  ['COPPICE_COMIT', 'did you mean COPPICE_COMMIT?'],
  ['COPICE_BRANCH', 'did you mean COPPICE_BRANCH?'],
  ['coppice_web_ulr', 'did you mean COPPICE_WEB_URL?'],
  ['COPPICE_ANYTHING', 'Coppice sets no variable of this name, and nobody else can: use another name'],
  ['COPY', 'set it'],
  ['COMMIT', 'set it'],
])('of %s, which is not set, the advice is %s', (name, expected) => {
  expect(unsetAdvice(name, 'set it', { errorCount: 0 })).toBe(expected);
});
