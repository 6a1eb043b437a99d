import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { run as runProgram } from '../support/run.ts';
import type { FinishedSteps } from './finished-steps.ts';
import type { SuiteResult } from './jest-results.ts';
import type { Outcome } from './outcome.ts';

export const FULL_RESULTS_FILE = join(REPOSITORY_ROOT, 'test', 'full-results.json');

/**
 * Returns the work tree's commit. Throws a Problem if there are other changes: results would name a commit that did not
 * run.
 */
export async function cleanCommit(): Promise<string> {
  const changed = (await runProgram('git', ['status', '--porcelain'], { cwd: REPOSITORY_ROOT })).trim();
  if (changed !== '') throw new Problem(`Commit first: the results would name a commit that did not run.\n${changed}`);
  return (await runProgram('git', ['rev-parse', 'HEAD'], { cwd: REPOSITORY_ROOT })).trim();
}

/** Stores the outcome of `npm run test:full` in the repository, to be committed. */
export function writeFullResults(
  commit: string,
  run: Pick<FinishedSteps, 'started' | 'processes' | 'workedMs'>,
  outcome: Required<Outcome>,
  suites: readonly SuiteResult[],
): void {
  const machine = { cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version };
  const seconds = Math.round(run.workedMs(new Date()) / 1000);
  const { started, processes } = run;
  const sorted = suites.toSorted((a, b) => a.suite.localeCompare(b.suite));
  const results = { commit, started: started.toISOString(), machine, seconds, processes, ...outcome, suites: sorted };
  writeFileSync(FULL_RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
}
