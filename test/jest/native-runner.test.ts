import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { tryRun } from '../support/run.ts';
import native from './native-project.json' with { type: 'json' };

const resultsSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string().transform((path) => path.replace(/^.*\//, '')),
      startTime: z.number(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** Runs files of examples/ in one worker, or in Jest's own process, and returns their results in the order of their runs. */
async function runExamples(files: readonly string[], options: readonly string[] = ['--maxWorkers=1']) {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-jest-'));
  const outputFile = join(folder, 'results.json');
  const config = {
    ...native,
    rootDir: REPOSITORY_ROOT,
    testMatch: files.map((file) => `<rootDir>/test/jest/examples/${file}`),
    testSequencer: '<rootDir>/test/jest/examples/by-path.cjs',
    // Makes Jest start a worker although maxWorkers is 1.
    workerIdleMemoryLimit: '1GB',
  };
  try {
    const args = ['--config', JSON.stringify(config), '--json', `--outputFile=${outputFile}`];
    await tryRun(join(REPOSITORY_ROOT, 'node_modules/.bin/jest'), [...args, ...options]);
    const { testResults } = resultsSchema.parse(JSON.parse(readFileSync(outputFile, 'utf8')));
    return testResults.sort((a, b) => a.startTime - b.startTime);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([
  ['a worker', ['--maxWorkers=1']],
  ["Jest's process", ['--runInBand']],
])('fails each test with an error, and no other, in %s', async (_, options) => {
  const [file] = await runExamples(['tests.ts'], options);
  expect(file?.assertionResults.map(({ fullName, status }) => [fullName, status])).toEqual([
    ['a group passes', 'passed'],
    ['a group handles a rejection late', 'passed'],
    ['a group with a failing beforeAll fails', 'failed'],
    ['a group with a failing beforeAll is skipped', 'pending'],
    ['compares unequal values', 'failed'],
    ['exceeds its timeout', 'failed'],
    ['leaves a rejection unhandled', 'failed'],
    ['throws an error that contains itself', 'failed'],
    ['throws in a timer', 'failed'],
    ['fails after its end', 'failed'],
    ['a later group passes while an earlier test fails', 'passed'],
    ['expects more assertions than it makes', 'failed'],
  ]);
  const texts = ['before all', 'Expected: 2', 'Exceeded timeout of 200 ms', 'nobody handles this', 'thrown in a timer'];
  for (const text of texts) expect(file?.message).toContain(text);
});

test('runs only the selected tests', async () => {
  const [file] = await runExamples(['tests.ts'], ['--maxWorkers=1', '--testNamePattern', 'a group passes']);
  const failed = file?.assertionResults.filter(({ status }) => status !== 'pending');
  expect(failed).toEqual([expect.objectContaining({ fullName: 'a group passes', status: 'passed' })]);
});

test.each([
  ['failing-after-all.ts', 'after all'],
  ['import-error.ts', 'while the file is imported'],
])('fails %s', async (name, text) => {
  const [file] = await runExamples([name]);
  expect(file).toMatchObject({ status: 'failed' });
  expect(file?.message).toContain(text);
});

test('restores what a file changed in its process', async () => {
  const files = await runExamples(['1-changes-the-process.ts', '2-uses-the-process.ts']);
  expect(files.map(({ name, status }) => [name, status])).toEqual([
    ['1-changes-the-process.ts', 'passed'],
    ['2-uses-the-process.ts', 'passed'],
  ]);
});
