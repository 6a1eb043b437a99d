import { expect, test } from '@jest/globals';
import { readYaml } from '../testing/read-yaml.ts';

const many = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const web = 'services:\n  web:\n    image: a\n';
const paths = (count: number, service: number): string =>
  many(count, (index) => `{ port: 1, path: /${service}/${index} },`).replaceAll('\n', ' ');
const envFile = many(900, (index) => `V${index}=${'y'.repeat(50)}`);

test.each<[string, string, string]>([
  [
    'jobs',
    `${web}    x-coppice:\n      jobs:\n${many(21, (i) => `        - { name: j${i}, command: a }`)}`,
    'more than 20 jobs',
  ],
  [
    'services and jobs together',
    `services:\n${many(60, (i) => `  s${i}: { image: a, x-coppice: { jobs: [{ name: j, command: a }] } }`)}`,
    'more than 100 services and jobs',
  ],
  ['ports', `${web}    ports:\n${many(5000, () => '      - 1-65535')}`, 'more than 100 ports'],
  ['env files', `${web}    env_file:\n${many(5000, () => '      - some.env')}`, 'more than 20 env files'],
  ['a large env file', `${web}    env_file: large.env`, 'is larger than 64 KiB'],
  ['variables', `${web}    environment:\n${many(1001, (i) => `      V${i}: a`)}`, 'more than 1000 variables'],
  [
    'the size of the whole model',
    `services:\n${many(20, (i) => `  s${i}: { image: a, env_file: some.env }`)}`,
    'larger than 256 KiB',
  ],
  ['mounts', `${web}    volumes:\n${many(9000, (i) => `      - /${i}`)}`, 'larger than 256 KiB'],
  [
    'routes of a service',
    `${web}    ports: ["1"]\n    x-coppice:\n      public:\n${many(21, (i) => `        - { port: 1, path: /${i} }`)}`,
    'more than 20 public routes',
  ],
  [
    'routes of all',
    `services:\n${many(3, (i) => `  s${i}: { image: a, ports: ["1"], x-coppice: { public: [${paths(7, i)}] } }`)}`,
    'more than 20 public routes',
  ],
  ['networks', `${web}networks:\n${many(21, (i) => `  n${i}:`)}`, 'more than 20 networks'],
  ['volumes', `${web}volumes:\n${many(51, (i) => `  v${i}:`)}`, 'more than 50 volumes'],
  [
    'volumes of empty folders',
    `${web}    volumes:\n${many(51, (i) => `      - ./v${i}:/v${i}`)}`,
    'more than 50 volumes',
  ],
  [
    'host names',
    `${web}    networks:\n      default:\n        aliases:\n${many(51, (i) => `          - a${i}`)}`,
    'more than 50 aliases and links',
  ],
])('limits %s', async (_, yaml, message) => {
  const files = { 'some.env': envFile, 'large.env': `A=${'a'.repeat(64 * 1024)}` };
  const { errors, serviceFile } = await readYaml(yaml, files);
  expect(serviceFile).toBeUndefined();
  expect(errors.map((error) => error.message).join('\n')).toContain(message);
});

test('reads an env file of many services once, and reports its errors once', async () => {
  const { errors } = await readYaml('services: { a: { image: i, env_file: x }, b: { image: i, env_file: x } }', {
    x: '9=1',
  });
  expect(errors).toHaveLength(1);
});

test('accepts what is at the limits', async () => {
  const { errors } = await readYaml(
    [
      `${web}    ports: ["1"]\n    x-coppice: { public: [${paths(20, 0)}] }`,
      `    networks:\n      default:\n        aliases:\n${many(50, (i) => `          - a${i}`)}`,
      `networks:\n${many(20, (i) => `  n${i}:`)}`,
      `volumes:\n${many(50, (i) => `  v${i}:`)}`,
    ].join('\n'),
  );
  expect(errors).toEqual([]);
});

test.each([
  ['keys', `${web}${many(30, (i) => `    imag${i}: a`)}`, 'did you mean "image"'],
  [
    'services',
    `${web}    depends_on:\n${many(30, (i) => `      - cache${i}`)}\n  cache: { image: a }`,
    'did you mean "cache"',
  ],
])('searches for a similar name 20 times: %s', async (_, yaml, hint) => {
  const { errors } = await readYaml(yaml);
  expect(errors.filter(({ message }) => message.includes(hint))).toHaveLength(20);
  expect(errors).toHaveLength(30);
});
