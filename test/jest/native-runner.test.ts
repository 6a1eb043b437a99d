import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../cluster/paths.ts';
import { tryRun } from '../cluster/run.ts';

const resultsSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string().transform((path) => path.replace(/^.*\//, '')),
      status: z.enum(['passed', 'failed']),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** Runs files of examples/ in one process, and returns their results. */
async function runExamples(...files: string[]): Promise<z.infer<typeof resultsSchema>['testResults']> {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-jest-'));
  const outputFile = join(folder, 'results.json');
  const config = {
    rootDir: import.meta.dirname,
    testMatch: files.map((file) => `<rootDir>/examples/${file}`),
    transform: {},
    extensionsToTreatAsEsm: ['.ts'],
    testRunner: '<rootDir>/native-runner.ts',
    testEnvironment: '<rootDir>/unsandboxed-environment.ts',
  };
  try {
    const args = ['--config', JSON.stringify(config), '--runInBand', '--json', `--outputFile=${outputFile}`];
    await tryRun(join(REPOSITORY_ROOT, 'node_modules/.bin/jest'), args);
    return resultsSchema.parse(JSON.parse(readFileSync(outputFile, 'utf8'))).testResults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('fails each test with an error, and no other', async () => {
  const [file] = await runExamples('tests.ts');
  expect(file?.assertionResults.map(({ fullName, status }) => [fullName, status])).toEqual([
    ['a group passes', 'passed'],
    ['compares unequal values', 'failed'],
    ['exceeds its deadline', 'failed'],
    ['leaves a rejection unhandled', 'failed'],
    ['throws in a timer', 'failed'],
  ]);
  for (const text of ['Expected: 2', 'Exceeded timeout of 200 ms', 'nobody handles this', 'thrown in a timer'])
    expect(file?.message).toContain(text);
});

test.each([
  ['late-rejection.ts', 'nobody handles this'],
  ['import-error.ts', 'while the file is imported'],
])('fails %s', async (name, text) => {
  const [file] = await runExamples(name);
  expect(file).toMatchObject({ status: 'failed' });
  expect(file?.message).toContain(text);
});

test('restores what a file replaced', async () => {
  const files = await runExamples('replaces-the-clock.ts', 'uses-the-clock.ts');
  expect(files.map(({ status }) => status)).toEqual(['passed', 'passed']);
});
