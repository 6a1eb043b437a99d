import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';

const resultsSchema = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numFailedTestSuites: z.int(),
  testResults: z.array(
    z.object({
      name: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
});

export interface SuiteResult {
  /** File of the test, from the repository's root. */
  suite: string;
  passed: number;
  failed: number;
  seconds: number;
  /** 2 if it first failed while running beside other suites. */
  attempts?: number;
}

export interface JestResults {
  passed: number;
  /** A suite that could not run counts as a failed test. */
  failed: number;
  suites: SuiteResult[];
}

/** Reads the output of `jest --json --outputFile`. */
export function readJestResults(file: string): JestResults {
  const results = resultsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const suites = results.testResults.map(({ name, startTime, endTime, status, assertionResults }) => {
    const count = (wanted: string) => assertionResults.filter((assertion) => assertion.status === wanted).length;
    return {
      suite: relative(REPOSITORY_ROOT, name),
      passed: count('passed'),
      failed: Math.max(count('failed'), status === 'failed' ? 1 : 0),
      seconds: Math.round((endTime - startTime) / 100) / 10,
    };
  });
  const failed = Math.max(results.numFailedTests, results.numFailedTestSuites > 0 ? 1 : 0);
  return { passed: results.numPassedTests, failed, suites };
}
