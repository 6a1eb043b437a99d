import type { ConditionReport } from '../../../crds/conditions.ts';
import { TESTED, type TestRun, type TestsStatus } from '../../../crds/environment-tests.ts';
import type { CommitStatus } from '../../source/hosts/host.ts';
import { isRunOver } from './round.ts';

interface Summary {
  state: CommitStatus['state'];
  message: string;
}

const maxMessage = 1000;

/** Returns the combined result of a build's tests. A failed test takes precedence over a test that could not run. */
export function summarize({ build, runs }: Pick<TestsStatus, 'build' | 'runs'>): Summary {
  const words = (state: Summary['state'], text: string) => ({
    state,
    message: `build ${build}: ${text}`.slice(0, maxMessage),
  });
  const unfinished = runs.filter((run) => !isRunOver(run));
  if (unfinished.length > 0) return words('pending', `${countOf(runs, 'test')} under way`);
  const failed = runs.filter(({ outcome }) => outcome === 'failed');
  const broken = runs.filter(({ outcome }) => outcome === 'error');
  if (failed.length > 0)
    return words('failure', `${failed.length} of ${countOf(runs, 'test')} failed: ${describe(failed)}`);
  if (broken.length > 0)
    return words('error', `${broken.length} of ${countOf(runs, 'test')} could not run: ${describe(broken)}`);
  return words('success', runs.length === 1 ? 'the only test passed' : `all ${runs.length} tests passed`);
}

/** Returns the condition for the tests. `failure`: why unfinished tests do not continue. */
export function testedReport(tests: Pick<TestsStatus, 'build' | 'runs'>, diagnosis?: Diagnosis): ConditionReport {
  const { state, message } = summarize(tests);
  if (state === 'pending' && diagnosis) return unknown(diagnosis.reason, `${message}; ${diagnosis.message}`);
  switch (state) {
    case 'success':
      return { type: TESTED, status: 'True', reason: 'Passed', message };
    case 'failure':
      return { type: TESTED, status: 'False', reason: 'Failed', message };
    case 'error':
      return unknown('NotRun', message);
    case 'pending':
      return unknown('Running', message);
  }
}

/** Why tests do not start or continue, with what to do. */
export interface Diagnosis {
  reason: string;
  message: string;
}

export function unknown(reason: string, message: string): ConditionReport {
  return { type: TESTED, status: 'Unknown', reason, message };
}

function describe(runs: readonly TestRun[]): string {
  return runs.map(({ name, summary = 'no reason was given' }) => `${name}: ${summary}`).join('; ');
}

function countOf({ length }: readonly unknown[], what: string): string {
  return `${length} ${what}${length === 1 ? '' : 's'}`;
}
