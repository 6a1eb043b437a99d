import { describe, expect, test } from '@jest/globals';
import { serviceFileSchema } from '../schema.ts';
import { oneService } from '../testing/one-service.ts';

const rest = '  db: { image: db }\n  web-taken: { image: i }\nvolumes: { up_loads: }\n';

describe('jobs and seed', () => {
  test('become services of their own, in sequence, before the service', async () => {
    const { serviceFile, errorLines } = await oneService(
      `build: app
entrypoint: [node]
environment: { A: 1 }
ports: ["1"]
healthcheck: { test: a }
depends_on: [db]
volumes: ["up_loads:/up"]
scale: 2
x-coppice:
  seed: { volume: up_loads, command: [fill, /up] }
  jobs:
    - { name: migrate, command: migrate --all }
    - { name: index, command: [index] }`,
      { rest },
    );
    expect(errorLines).toEqual([]);
    expect(serviceFileSchema.parse(serviceFile)).toEqual(serviceFile);
    const byName = new Map(serviceFile?.services.map((service) => [service.name, service]));
    const seed = byName.get('web-seed');
    expect(seed).toMatchObject({
      imageOf: 'web',
      runs: 'once per volume',
      seeds: 'up-loads',
      entrypoint: ['node'],
      command: ['fill', '/up'],
      environment: { A: '1' },
      ports: [],
      replicas: 1,
      dependsOn: [{ service: 'db', condition: 'started' }],
      mounts: [{ type: 'volume', volume: 'up-loads', target: '/up' }],
    });
    expect(seed).not.toHaveProperty('build');
    expect(seed).not.toHaveProperty('healthcheck');
    expect(byName.get('web-migrate')).toMatchObject({
      runs: 'once',
      command: ['migrate', '--all'],
      dependsOn: [
        { service: 'db', condition: 'started' },
        { service: 'web-seed', condition: 'completed' },
      ],
    });
    expect(byName.get('web')).toMatchObject({
      build: { context: 'app' },
      replicas: 2,
      dependsOn: [
        { service: 'db', condition: 'started' },
        { service: 'web-index', condition: 'completed' },
        { service: 'web-migrate', condition: 'completed' },
        { service: 'web-seed', condition: 'completed' },
      ],
    });
    expect(serviceFile?.publicRoutes).toEqual([{ service: 'web', port: 1, path: '/' }]);
  });

  test.each([
    ['jobs: [{ name: taken, command: a }]', '"web-taken" is the name of another service'],
    ['jobs: [{ name: a, command: b }, { name: a, command: c }]', '"web-a" is the name of another service, job'],
    ['jobs: [{ name: A_b, command: a }]', '"A_b" is not a name for a job'],
    ['jobs: [{ name: a }]', 'a job has a name and a command'],
    ['jobs: [{ name: a, command: [] }]', 'is empty: write the command'],
    [`jobs: [{ name: ${'a'.repeat(55)}, command: a }]`, 'is longer than 57'],
    ['jobs: [{ name: a, comand: b }]', 'did you mean "command"?'],
    ['seed: { volume: other, command: a }', 'the service does not mount a volume "other"'],
    ['seed: { volume: up_loads, command: a }', 'the service does not mount a volume "up_loads"'],
    ['seed: { command: a }', 'a seed has a volume and a command'],
    ['tests: [a]', '"tests" is not a key of a service'],
    ['watch: [libs/**]', 'the service is not built'],
  ])('%s', async (lines, message) => {
    const { errorLines } = await oneService(`x-coppice: { ${lines} }\nports: ["1"]`, { rest });
    expect(errorLines.join('\n')).toContain(message);
  });

  test('refuse a volume that is mounted read-only', async () => {
    const { errorLines } = await oneService(
      'volumes: ["up_loads:/up:ro"]\nx-coppice: { seed: { volume: up_loads, command: a } }',
      { rest },
    );
    expect(errorLines).toEqual([expect.stringContaining('2:20 x-coppice.seed the service does not mount')]);
  });
});

describe('healthcheck', () => {
  test.each([
    [
      '{ port: 80 }',
      { http: { path: '/', port: 80 }, intervalSeconds: 10, timeoutSeconds: 5, retries: 3, startPeriodSeconds: 0 },
    ],
    [
      '{ port: 80, path: "/h?a=b", interval: 1s, timeout: 2s, retries: 9, start_period: 1m }',
      { http: { path: '/h?a=b', port: 80 }, intervalSeconds: 1, timeoutSeconds: 2, retries: 9, startPeriodSeconds: 60 },
    ],
  ])('takes %s before that of Compose', async (value, expected) => {
    const { service, errorLines } = await oneService(`healthcheck: { test: a }\nx-coppice: { healthcheck: ${value} }`);
    expect(errorLines).toEqual([]);
    expect(service?.healthcheck).toEqual(expected);
  });

  test.each([
    ['{ path: / }', 'has no port'],
    ['{ port: 80, path: h }', '"h" is not a path'],
    ['{ port: 80, path: "/a b" }', '"/a b" is not a path'],
    ['{ port: 0 }', 'must be a whole number from 1'],
    ['{ port: 80, test: a }', '"test" is not a key'],
  ])('refuses %s', async (value, message) => {
    const { errorLines } = await oneService(`x-coppice: { healthcheck: ${value} }`);
    expect(errorLines).toEqual([expect.stringContaining(message)]);
  });
});

describe('watch', () => {
  test('reads globs of the repository', async () => {
    const { service, errorLines } = await oneService(
      'build: a\nx-coppice: { watch: [./libs/**, "*.json", "!./libs/*.md"] }',
    );
    expect(errorLines).toEqual([]);
    expect(service?.build?.watch).toEqual(['libs/**', '*.json', '!libs/*.md']);
  });

  test.each(['/etc/*', '../x', 'a/../b', '!/etc/*', '!../x', '!!a', '!', 'a\\\\b'])('refuses %s', async (glob) => {
    const { errorLines } = await oneService(`build: a\nx-coppice: { watch: ["${glob}"] }`);
    expect(errorLines).toEqual([expect.stringContaining("is not a glob of the repository's files")]);
  });
  test.each([
    [Array.from({ length: 51 }, () => '"a"').join(), 'more than 50 globs'],
    [`"${'a'.repeat(129)}"`, 'a glob has at most 128 characters'],
    ['"*a*a*a*a*"', 'a glob has at most 128 characters and 4 times * or **'],
    ['"**/a/**/a/**/a/**/a/**"', '4 times * or **'],
  ])('limits %s', async (globs, message) => {
    const { errorLines } = await oneService(`build: a\nx-coppice: { watch: [${globs}] }`);
    expect(errorLines).toEqual([expect.stringContaining(message)]);
  });
});
