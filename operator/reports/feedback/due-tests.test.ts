import { describe, expect, test } from '@jest/globals';
import type { Environment, EnvironmentStatus, FeedbackStatus } from '../../../crds/environment.ts';
import type { TestOutcome, TestsStatus } from '../../../crds/environment-tests.ts';
import { commentBody } from './comment.ts';
import { testSteps } from './due-tests.ts';

const apiUrl = new URL('https://coppice.example.org');
const startedAt = '2026-01-01T00:00:00.000Z';
const results = 'https://coppice.example.org/environments/acme.shop-main?tab=tests';
const weburl = 'https://shop-main--acme.env.example.com/';

const deployed = { number: 2, result: 'succeeded', startedAt, commit: 'c2' } as const;

function tests(outcome: TestOutcome, build = 2): TestsStatus {
  return { build, since: startedAt, runs: [{ name: 'home', type: 'http', outcome, summary: 'GET / is\n500' }] };
}

function environmentOf(status: EnvironmentStatus, isDeleted = false): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', ...(isDeleted && { deletionTimestamp: startedAt }) },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: { state: 'built', webURL: weburl, ...status },
  };
}

function steps(status: EnvironmentStatus, isDeleted = false): string[] {
  return testSteps(environmentOf(status, isDeleted), apiUrl).flatMap((step) => {
    if (step.kind !== 'tests') return [];
    expect(step.status.context).toBe('coppice/acme.shop-main/tests');
    return `${step.commit} ${step.status.state}: ${step.status.description} -> ${step.status.targetUrl}`;
  });
}

describe('the commit status of the tests', () => {
  const pending: FeedbackStatus = { tests: { commit: 'c1', state: 'pending', hash: 'h' } };
  const end = `c1 error: the tests were cancelled: the tested build is no longer deployed -> ${results}`;
  const passed = `c2 success: build 2: the only test passed -> ${weburl}`;

  test.each<[string, EnvironmentStatus, string[]]>([
    ['no tests', { deployed }, []],
    ['under way', { deployed, tests: tests('running') }, [`c2 pending: build 2: 1 test under way -> ${results}`]],
    ['passed', { deployed, tests: tests('passed') }, [passed]],
    [
      'a fault that was found',
      { deployed, tests: tests('failed') },
      [`c2 failure: build 2: 1 of 1 test failed: home: GET / is 500 -> ${results}`],
    ],
    [
      'a test that could not run',
      { deployed, tests: tests('error') },
      [`c2 error: build 2: 1 of 1 test could not run: home: GET / is 500 -> ${results}`],
    ],
    ['of a build that runs no more', { deployed, tests: tests('failed', 1) }, []],
    ['another commit that is waited for', { deployed, tests: tests('passed'), feedback: pending }, [end, passed]],
    ['contents that went', { feedback: pending }, [end]],
    ['one that was reported', { feedback: { tests: { commit: 'c1', state: 'failure', hash: 'h' } } }, []],
  ])('%s', (_what, status, expected) => {
    expect(steps(status)).toEqual(expected);
  });

  test('a deletion ends a pending status', () => {
    const feedback: FeedbackStatus = { tests: { commit: 'c2', state: 'pending', hash: 'h' } };
    expect(steps({ deployed, tests: tests('running'), feedback }, true)).toEqual([end.replace('c1', 'c2')]);
  });
});

test("reports in the pull request's comment what tests found, as plain text", () => {
  const runs = [{ name: 'home', type: 'http', outcome: 'failed', summary: '``` @everyone' } as const];
  const found = environmentOf({ build: deployed, deployed, tests: { ...tests('failed'), runs } });
  const body = commentBody([found], 'marker', apiUrl);
  expect(body).toContain('Tests:\n\n````text\nbuild 2: 1 of 1 test failed: home: ``` @everyone\n````\n');
  expect(commentBody([environmentOf({ build: deployed, deployed })], 'marker', apiUrl)).not.toContain('Tests:');
});
