import { expect, test } from '@jest/globals';
import type { TestOutcome, TestRun } from '../../../crds/environment-tests.ts';
import { summarize, testedReport } from './summary.ts';

function runs(...outcomes: TestOutcome[]): TestRun[] {
  return outcomes.map((outcome, index) => ({
    name: `t${index + 1}`,
    type: 'http',
    outcome,
    summary: `was ${outcome}`,
  }));
}

test.each<[TestOutcome[], string, string, string]>([
  [['passed'], 'success', 'True Passed', 'build 2: the only test passed'],
  [['passed', 'passed'], 'success', 'True Passed', 'build 2: all 2 tests passed'],
  [['passed', 'failed'], 'failure', 'False Failed', 'build 2: 1 of 2 tests failed: t2: was failed'],
  [['failed', 'error'], 'failure', 'False Failed', 'build 2: 1 of 2 tests failed: t1: was failed'],
  [['error'], 'error', 'Unknown NotRun', 'build 2: 1 of 1 test could not run: t1: was error'],
  [
    ['error', 'passed', 'error'],
    'error',
    'Unknown NotRun',
    'build 2: 2 of 3 tests could not run: t1: was error; t3: was error',
  ],
  [['failed', 'running'], 'pending', 'Unknown Running', 'build 2: 2 tests under way'],
  [['pending'], 'pending', 'Unknown Running', 'build 2: 1 test under way'],
])('%j', (outcomes, state, condition, message) => {
  const tests = { build: 2, runs: runs(...outcomes) };
  expect(summarize(tests)).toEqual({ state, message });
  const report = testedReport(tests);
  expect([`${report.status} ${report.reason}`, report.message]).toEqual([condition, message]);
});

test('reports a failure for unfinished tests only', () => {
  const diagnosis = { reason: 'TesterBusy', message: 'the queue is full' };
  expect(testedReport({ build: 1, runs: runs('pending') }, diagnosis)).toMatchObject({
    status: 'Unknown',
    reason: 'TesterBusy',
    message: 'build 1: 1 test under way; the queue is full',
  });
  expect(testedReport({ build: 1, runs: runs('passed') }, diagnosis)).toMatchObject({ reason: 'Passed' });
});

test('limits the length of the message', () => {
  const many = Array.from({ length: 10 }, (_, n): TestRun => ({
    name: `t${n}`,
    type: 'http',
    outcome: 'failed',
    summary: 'x'.repeat(300),
  }));
  expect(summarize({ build: 1, runs: many }).message).toHaveLength(1000);
});
