import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { FULL_TEST_PROGRAMS } from '../checks/test-programs.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { dependabotSchema, workflowSchema } from './workflow-schema.ts';
import { workflowProblems, type Repository } from './workflow-problems.ts';

const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const { scripts } = z
  .looseObject({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));
const repository: Repository = {
  scripts: new Set(Object.keys(scripts)),
  hasFile: (path) => existsSync(join(REPOSITORY_ROOT, path)),
};
const workflows = globSync('.github/workflows/*', { cwd: REPOSITORY_ROOT }).sort();

test('there is a workflow for pull requests, each night and releases', () => {
  expect(workflows).toEqual(['nightly', 'pull-request', 'release'].map((name) => `.github/workflows/${name}.yml`));
});

describe.each(workflows)('%s', (path) => {
  const text = read(path);
  const workflow = workflowSchema.parse(parse(text));

  test('names actions by commit, calls what exists, and can do no more than it needs', () => {
    expect(workflowProblems(text, workflow, repository)).toEqual([]);
  });

  test('has scripts that bash reads', () => {
    for (const step of Object.values(workflow.jobs).flatMap(({ steps }) => steps)) {
      if (!('run' in step)) continue;
      const { status, stderr } = spawnSync('bash', ['-n'], { input: step.run, encoding: 'utf8' });
      expect([status, stderr]).toEqual([0, '']);
    }
  });
});

test.each([
  ['nightly', { 'test-full': { contents: 'read' }, scan: { contents: 'read' } }],
  ['pull-request', { test: { contents: 'read' } }],
  ['release', { release: { contents: 'write', packages: 'write' } }],
])('the jobs of %s have these permissions, and no others', (name, permissions) => {
  const { jobs } = workflowSchema.parse(parse(read(`.github/workflows/${name}.yml`)));
  expect(Object.fromEntries(Object.entries(jobs).map(([job, its]) => [job, its.permissions]))).toEqual(permissions);
});

const commandsOf = (name: string, job: string) =>
  workflowSchema
    .parse(parse(read(`.github/workflows/${name}.yml`)))
    .jobs[job]?.steps.flatMap((step) => ('run' in step ? [step.run] : []));

test('pull requests run the command of .ci/run', () => {
  expect(commandsOf('pull-request', 'test')).toContain('.ci/run');
  expect(read('.ci/run')).toMatch(/^exec npm test$/m);
});

describe("the runner's user is not root, so a step before the tests", () => {
  test.each([
    ['pull-request', 'test', '.ci/run'],
    ['nightly', 'test-full', 'npm run test:full'],
  ])('of %s prepares the runner', (name, job, tests) => {
    const preparation = ['.ci/prepare-runner', tests];
    expect(commandsOf(name, job)?.filter((command) => preparation.includes(command))).toEqual(preparation);
  });

  test('installs every program of the tests, except the one that the image has', () => {
    const { chromium, ...installed } = FULL_TEST_PROGRAMS;
    expect(chromium).toBe('chromium');
    const [, names = ''] = /^sudo apt-get install (.*)$/m.exec(read('.ci/prepare-runner')) ?? [];
    expect(names.split(' ')).toEqual(expect.arrayContaining(Object.values(installed)));
  });

  const permission = 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  test.each([
    ['nightly', 'scan'],
    ['release', 'release'],
  ])('of %s permits the user namespaces of rootless BuildKit', (name, job) => {
    const commands = commandsOf(name, job) ?? [];
    const builds = commands.findIndex((command) => command.startsWith('npm run release '));
    expect(commands.slice(0, builds)).toContain(permission);
    expect(read('.ci/prepare-runner').split('\n')).toContain(permission);
  });
});

test('Dependabot watches each folder with dependencies', () => {
  const { updates } = dependabotSchema.parse(parse(read('.github/dependabot.yml')));
  const files = {
    npm: 'package-lock.json',
    docker: 'Dockerfile',
    gomod: 'go.mod',
    'github-actions': '.github/workflows/*',
  };
  for (const { 'package-ecosystem': ecosystem, directory, directories = [directory ?? ''] } of updates) {
    for (const folder of directories) {
      expect(globSync(join(folder.slice(1), files[ecosystem]), { cwd: REPOSITORY_ROOT })).not.toEqual([]);
    }
  }
  const watched = (ecosystem: string, file: string) =>
    updates
      .filter((update) => update['package-ecosystem'] === ecosystem)
      .flatMap(({ directory, directories = [directory ?? ''] }) => directories)
      .flatMap((folder) => globSync(join(folder.slice(1), file), { cwd: REPOSITORY_ROOT }));
  const modules = globSync('test/cluster/**/go.mod', { cwd: REPOSITORY_ROOT }).filter(
    (path) => dirname(path) !== 'test/cluster',
  );
  expect(watched('gomod', 'go.mod').sort()).toEqual(modules.sort());
});

const minimal = `name: some
on: { pull_request: }
permissions: {}
concurrency: { group: some, cancel-in-progress: true }
defaults: { run: { shell: bash } }
jobs:
  test:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions: { contents: read }
    steps:
      - run: npm test
`;
const withStep = (step: string) => `${minimal}${step.replaceAll(/^/gm, '      ')}\n`;

describe('reports', () => {
  const commit = '0'.repeat(40);
  test.each([
    ['an action by tag', withStep('- uses: some/action@v1'), /name the commit/],
    ['an action without its version', withStep(`- uses: some/action@${commit}`), /name the commit/],
    ['a checkout that keeps its token', withStep(`- uses: actions/checkout@${commit} # v7.0.1`), /persist-credentials/],
    ['a missing npm script', withStep('- run: npm run nothing'), /there is no npm script nothing/],
    ['a missing file', withStep('- run: test/nothing.ts'), /there is no file test\/nothing.ts/],
    ['an injection', withStep('- run: echo "${{ github.head_ref }}"'), /an expression in a script/],
    [
      'secrets for strangers',
      withStep('- run: sh test/install-dependencies\n- run: npm test\n  env: { KEY: "${{ secrets.KEY }}" }'),
      /neither write nor read/,
    ],
    [
      'secrets that scripts of packages can read',
      minimal
        .replace('pull_request', 'merge_group')
        .concat('      - run: npm test\n        env: { KEY: "${{ secrets.KEY }}" }\n'),
      /before `sh test\/install-dependencies`/,
    ],
    [
      'unguarded writes',
      minimal.replace('pull_request', 'merge_group').replace('contents: read', 'contents: write'),
      /without an/,
    ],
  ])('%s', (_what, text, problem) => {
    const problems = workflowProblems(text, workflowSchema.parse(parse(text)), repository);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test.each([
    ['the event pull_request_target', minimal.replace('pull_request', 'pull_request_target')],
    ['permissions of the whole workflow', minimal.replace('permissions: {}', 'permissions: { contents: read }')],
    ['a job without a time limit', minimal.replace('    timeout-minutes: 5\n', '')],
    ['a job with the default permissions', minimal.replace('    permissions: { contents: read }\n', '')],
  ])('%s', (_what, text) => expect(workflowSchema.safeParse(parse(text)).success).toBe(false));
});
