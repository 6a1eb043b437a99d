import { expect, test } from '@jest/globals';
import { EXAMPLE_FACTS, OwnVariables } from '../own-variables.ts';
import { memoryFiles } from '../memory-files.ts';
import { readServiceFile } from '../parse.ts';

const variables = new Map([
  ['PW', { value: '5432', visibility: 'always' as const, secret: true }],
  ['OPEN', { value: '5432', visibility: 'always' as const }],
]);

const read = (text: string, files: Record<string, string> = {}) =>
  readServiceFile({
    files: memoryFiles({ ...files, 'compose.yaml': text, 'web/Dockerfile': 'FROM scratch' }),
    variables,
    own: new OwnVariables(EXAMPLE_FACTS),
    settings: { mode: 'repo' },
  });
const service = (lines: string) => `services:\n  web:\n    image: nginx\n    ${lines}\n`;
const message = (name: string) => expect.stringContaining(`the variable ${name} is secret`);

test.each([
  service('environment: {A: "x${PW}"}'),
  service('environment: ["A=${PW}"]'),
  service('environment: [PW]'),
  service('command: run ${PW}'),
  service('entrypoint: [run, "${PW}"]'),
  service('healthcheck: {test: "check ${PW}"}'),
  service('labels: {a: "${PW}"}'),
  service('x-coppice: {jobs: [{name: migrate, command: "run ${PW}"}]}'),
  'services: {web: {build: {context: web, args: {A: "${PW}"}}}}',
  `${service('secrets: [s]')}secrets: {s: {environment: PW}}\n`,
  `${service('configs: [s]')}configs: {s: {content: "pw=\${PW}"}}\n`,
  service('hostname: "x${OPEN}"'),
  service('hostname: "${PW:+set}"'),
])('permits a secret variable in %j', async (text) => {
  expect((await read(text)).errors).toEqual([]);
});

test.each([
  service('hostname: "x${PW}"'),
  service('expose: ["${PW}"]'),
  service('working_dir: /x/${PW}'),
  service('x-coppice: {healthcheck: {path: "/${PW}", port: 80}}'),
  service('x-coppice: {jobs: [{name: "j${PW}", command: run}]}'),
  service('x-coppice: {public: [{port: 80, path: "/${PW}"}]}'),
  'services: {web: {image: "nginx:${PW}"}}',
  'services: {web: {build: {context: web, target: "${PW}"}}}',
  `${service('volumes: ["data:/data"]')}volumes: {data: {name: "x\${PW}"}}\n`,
])('refuses a secret variable in %j', async (text) => {
  expect((await read(text)).errors.map((error) => error.message)).toContainEqual(message('PW'));
});

test('makes a value of an env file secret when a secret variable is filled into it', async () => {
  const { errors } = await read(service('hostname: "${DERIVED}"'), { '.env': 'DERIVED=x${PW}\n' });
  expect(errors.map((error) => error.message)).toContainEqual(message('DERIVED'));
});
