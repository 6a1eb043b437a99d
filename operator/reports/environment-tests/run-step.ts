import type { RunAddress, TestRun } from '../../../crds/environment-tests.ts';
import type { Finding } from '../../../crds/test-history.ts';
import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import type { EnvironmentTest } from '../../../service-file/schema.ts';
import type { TesterClient } from '../../../tester-client/client.ts';
import { TestRefusedError, UnknownRunError } from '../../../tester-client/errors.ts';
import { textOf } from '../../../tester-client/interface.ts';
import { oneLine } from '../../shared/one-line.ts';
import { numbersOf } from './history.ts';

export type Tester = Pick<TesterClient, 'run' | 'status' | 'results'>;

const maxSummary = 300;

/** A run after a step, and what it has found if the step ended it so. */
export interface SteppedRun {
  run: TestRun;
  finding?: Finding;
}

/**
 * Starts a run. All parameters except the address come from the service file and are untrusted.
 * @param as the owner of the environment, and the headers with which the tester can open it
 * @throws what TesterClient.run throws, except TestRefusedError, which ends the run
 */
export async function startRun(
  tester: Tester,
  run: TestRun,
  { type, params }: EnvironmentTest,
  url: string,
  { owner, headers }: { owner: FlowOwner; headers: Readonly<Record<string, string>> },
  now: Date,
): Promise<{ run: TestRun; address?: RunAddress }> {
  try {
    const { ID, Secret } = await tester.run(type, { ...params, url }, owner, headers);
    return { run: { ...run, outcome: 'running', id: ID }, address: { ID, Secret } };
  } catch (error) {
    if (!(error instanceof TestRefusedError)) throw error;
    return {
      run: ended(
        run,
        'error',
        `the tester rejected it: ${error.message}. Correct x-coppice.tests, then request a build`,
        now,
      ),
    };
  }
}

/** Returns a run with its current result; unchanged while it is running. @throws TesterUnreachableError */
export async function followRun(tester: Tester, run: TestRun, address: RunAddress, now: Date): Promise<SteppedRun> {
  const over = (outcome: TestRun['outcome'], text: string): SteppedRun => ({ run: ended(run, outcome, text, now) });
  try {
    const { Status, message = 'the tester reports no reason. Run the tests again' } = await tester.status(address);
    if (Status === 'running') return { run };
    if (Status === 'failed') return over('error', message);
    const items = await tester.results(address);
    const passed = textOf(items, 'passed');
    const summary = textOf(items, 'summary') ?? 'the test reports no details';
    if (passed !== 'true' && passed !== 'false')
      return over('error', 'the tester does not report whether it passed. Run the tests again');
    const outcome = passed === 'true' ? 'passed' : 'failed';
    return { ...over(outcome, summary), finding: { name: run.name, outcome, numbers: numbersOf(items) } };
  } catch (error) {
    if (!(error instanceof UnknownRunError)) throw error;
    return over('error', 'the tester has lost the run. Run the tests again');
  }
}

/**
 * Returns a run that has ended. The summary contains the output of pages and programs, so it is limited to one bounded
 * line.
 */
export function ended(run: TestRun, outcome: TestRun['outcome'], summary: string, now: Date): TestRun {
  return { ...run, outcome, summary: oneLine(summary, maxSummary), finishedAt: now.toISOString() };
}
