import { NOT_RUN_STATUS } from '../support/problem.ts';

/** How a program ended; `not run` if this machine lacks what it needs. */
export type Result = 'passed' | 'failed' | 'not run';

/** Numbers of tests, and the names of checks that could not run on this machine. */
export interface Outcome {
  passed: number;
  failed: number;
  notRun?: readonly string[];
}

/** Returns how a program ended. @param status its exit status; null if a signal ended it */
export function resultOf(status: number | null): Result {
  if (status === NOT_RUN_STATUS) return 'not run';
  return status === 0 ? 'passed' : 'failed';
}

/** Returns the outcome of a check, which counts as one test if it could run. */
export function outcomeOf(name: string, result: Result): Outcome {
  if (result === 'not run') return { passed: 0, failed: 0, notRun: [name] };
  return result === 'passed' ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Returns the sum of outcomes. */
export function totalOf(outcomes: readonly Outcome[]): Required<Outcome> {
  return {
    passed: outcomes.reduce((total, { passed }) => total + passed, 0),
    failed: outcomes.reduce((total, { failed }) => total + failed, 0),
    notRun: outcomes.flatMap(({ notRun = [] }) => notRun),
  };
}

/** Returns the last lines of a run: each check that could not run, and the numbers. */
export function summaryOf({ passed, failed, notRun }: Required<Outcome>): string[] {
  return [...notRun.map((name) => `not run: ${name}`), `${passed} passed, ${failed} failed`];
}
