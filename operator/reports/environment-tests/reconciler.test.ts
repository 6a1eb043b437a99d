import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { findCondition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import type { KeptRuns } from '../../../crds/environment-tests.ts';
import type { TestHistory } from '../../../crds/test-history.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { EnvironmentTest } from '../../../service-file/schema.ts';
import { TesterBusyError, TesterUnreachableError, TestRefusedError } from '../../../tester-client/errors.ts';
import { Waiting } from '../../shared/errors.ts';
import { TestsReconciler } from './reconciler.ts';
import { isSameRequest, needsReconcile } from './round.ts';
import { FakeTester } from './testing/fake-tester.ts';
import { groupFlows } from '../../source/hosts/testing/group-flows.ts';

const finishedAt = '2026-01-01T00:00:00.000Z';
const url = 'http://shop-main--acme.env.example/';
const home: EnvironmentTest = { name: 'home', type: 'http', params: { paths: [{ path: '/' }] } };
const polls: EnvironmentTest = { name: 'looks', type: 'page', params: {} };

let now: number;
let environment: Environment;
let named: EnvironmentTest[] | undefined;
let tester: FakeTester;
let kept: KeptRuns | undefined;
let history: TestHistory;
let writes: number;
/** Errors of the first writes of the Secret with the runs. */
let refusals: (Error | undefined)[];

/** Returns an environment whose build became ready, with the tests of its file. */
function built(number: number, status: EnvironmentStatus = {}): Environment {
  const deployed: BuildStatus = {
    number,
    result: 'succeeded',
    startedAt: finishedAt,
    finishedAt,
    revision: 'v1',
    commit: 'c1',
    ...(named && { tests: named.length }),
  };
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: { state: 'built', webURL: url, deployed, ...status },
  };
}

beforeEach(() => {
  now = Date.parse(finishedAt) + 60_000;
  named = [home];
  tester = new FakeTester();
  kept = undefined;
  history = [];
  writes = 0;
  refusals = [];
  environment = built(1);
});

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

/** Reconciles once with an operator that knows only the cluster. */
function reconcileOnce(isOff = false) {
  return new TestsReconciler({
    flows: groupFlows,
    environments: { get: () => environment },
    testsOf: () => Promise.resolve(named),
    headersFor: () => ({ 'x-access': 'for the tester' }),
    secrets: {
      read: () => Promise.resolve(structuredClone({ runs: kept, history })),
      write: (_of, runs) => {
        const refusal = refusals.shift();
        if (refusal) return Promise.reject(refusal);
        kept = structuredClone(runs);
        return Promise.resolve();
      },
      writeHistory: (_of, given) => {
        const refusal = refusals.shift();
        if (refusal) return Promise.reject(refusal);
        history = structuredClone(given);
        return Promise.resolve();
      },
      remove: () => {
        kept = undefined;
        return Promise.resolve();
      },
    },
    tester: isOff ? undefined : tester,
    statuses: {
      write: (of, status) => {
        expect(of).not.toBe(environment);
        const rest = { ...of.status };
        delete rest.tests;
        delete rest.conditions;
        const after = { ...of, status: { ...rest, ...status } };
        if (!isDeepStrictEqual(plain(after.status), plain(environment.status))) writes += 1;
        environment = after;
        return Promise.resolve();
      },
    },
    now: () => new Date(now),
  }).reconcile('key');
}

const outcomes = () => environment.status?.tests?.runs.map(({ name, outcome }) => `${name} ${outcome}`);
const tested = () => {
  const { status, reason, message } = findCondition(environment.status?.conditions, 'Tested') ?? {};
  return `${status ?? 'absent'} ${reason ?? ''}: ${message ?? ''}`;
};

describe('after a build is ready', () => {
  test('starts each test once, follows it, and reports it', async () => {
    named = [home, polls];
    environment = built(1);
    expect(await reconcileOnce()).toEqual({ requeueAfterMs: 2000 });
    expect(tester.started).toEqual([
      { type: 'http', params: { paths: [{ path: '/' }], url }, tenant: 'group acme', group: 'acme' },
      { type: 'page', params: { url }, tenant: 'group acme', group: 'acme' },
    ]);
    expect(outcomes()).toEqual(['home running', 'looks running']);
    expect(tested()).toBe('Unknown Running: build 1: 2 tests under way');
    now += 50_000;
    expect(await reconcileOnce()).toEqual({ requeueAfterMs: 10_000 });
    tester.finish('id-1', true, 'one path answers 200');
    tester.finish('id-2', false, '2 errors\nin the console');
    expect(await reconcileOnce()).toEqual({});
    expect(environment.status?.tests).toMatchObject({
      build: 1,
      runs: [
        { name: 'home', type: 'http', id: 'id-1', outcome: 'passed', summary: 'one path answers 200' },
        { name: 'looks', type: 'page', id: 'id-2', outcome: 'failed', summary: '2 errors in the console' },
      ],
    });
    expect(tested()).toBe('False Failed: build 1: 1 of 2 tests failed: looks: 2 errors in the console');
    expect([tester.started.length, writes]).toEqual([2, 2]);
  });

  test('writes no Secret into the status', async () => {
    await reconcileOnce();
    expect(JSON.stringify(environment)).not.toContain('secret-');
    expect(kept).toEqual({ build: 1, runs: { home: { ID: 'id-1', Secret: 'secret-id-1' } } });
  });

  test('does not requeue finished tests, also under another operator', async () => {
    await reconcileOnce();
    tester.finish('id-1', true, 'fine');
    await reconcileOnce();
    const { polls: before } = tester;
    expect(needsReconcile(environment)).toBe(false);
    expect(await reconcileOnce()).toEqual({});
    expect([tester.started.length, tester.polls, writes]).toEqual([1, before, 2]);
  });

  test('continues a run that another operator started and did not report', async () => {
    await reconcileOnce();
    environment = built(1);
    await reconcileOnce();
    expect(tester.started).toHaveLength(1);
    expect(outcomes()).toEqual(['home running']);
  });

  test('waits for the Ingress controller', async () => {
    now = Date.parse(finishedAt) + 1000;
    expect(await reconcileOnce()).toEqual({ requeueAfterMs: 4000 });
    expect([tester.started.length, writes]).toEqual([0, 0]);
  });

  test('starts no tests while another build is running', async () => {
    environment = built(1, { state: 'building' });
    expect(await reconcileOnce()).toEqual({});
    expect(tester.started).toEqual([]);
    expect(isSameRequest(built(1), environment)).toBe(false);
  });

  test('tests another build again, and abandons the runs of the former one', async () => {
    await reconcileOnce();
    environment = { ...environment, status: { ...environment.status, ...built(2).status } };
    await reconcileOnce();
    expect(tester.started).toHaveLength(2);
    expect(kept).toEqual({ build: 2, runs: { home: { ID: 'id-2', Secret: 'secret-id-2' } } });
    expect(environment.status?.tests).toMatchObject({ build: 2, runs: [{ id: 'id-2' }] });
  });

  test('tests again once per request', async () => {
    await reconcileOnce();
    tester.finish('id-1', true, 'fine');
    await reconcileOnce();
    environment.metadata.annotations = { 'coppice.dev/request-test': '2026-01-01T00:02:00Z/a' };
    expect(needsReconcile(environment)).toBe(true);
    await reconcileOnce();
    tester.finish('id-2', false, 'broken');
    await reconcileOnce();
    await reconcileOnce();
    expect(tester.started).toHaveLength(2);
    expect(environment.status?.tests).toMatchObject({ build: 1, request: '2026-01-01T00:02:00Z/a' });
    expect(outcomes()).toEqual(['home failed']);
  });
});

describe('the history of the tests', () => {
  /** Reports these runs as passed with a number, and reconciles. */
  const finish = async (numbers: Record<string, number>) => {
    for (const [id, value] of Object.entries(numbers)) tester.finish(id, true, 'fine', { 'time /': value });
    return reconcileOnce();
  };

  test('has the numbers of each build and test, also of one that ended earlier than others', async () => {
    named = [home, polls];
    environment = built(1);
    await reconcileOnce();
    await finish({ 'id-1': 12 });
    expect(history).toMatchObject([{ build: 1, tests: [{ name: 'home' }] }]);
    await finish({ 'id-2': 20 });
    environment = built(2, { tests: environment.status?.tests });
    await reconcileOnce();
    await finish({ 'id-3': 14, 'id-4': 22 });
    const numbers = (home: number, looks: number) => [
      { name: 'home', outcome: 'passed', numbers: [['time /', home]] },
      { name: 'looks', outcome: 'passed', numbers: [['time /', looks]] },
    ];
    expect(history).toEqual([
      { build: 2, commit: 'c1', finishedAt: new Date(now).toISOString(), tests: numbers(14, 22) },
      { build: 1, commit: 'c1', finishedAt: new Date(now).toISOString(), tests: numbers(12, 20) },
    ]);
  });

  test('has the last run of a build', async () => {
    await reconcileOnce();
    await finish({ 'id-1': 12 });
    environment.metadata.annotations = { 'coppice.dev/request-test': 'again' };
    await reconcileOnce();
    await finish({ 'id-2': 13 });
    expect(history).toMatchObject([{ build: 1, tests: [{ numbers: [['time /', 13]] }] }]);
  });

  test('has no run that could not take place', async () => {
    await reconcileOnce();
    tester.fail('id-1', 'the tester was restarted');
    await reconcileOnce();
    expect([outcomes(), history]).toEqual([['home error'], []]);
  });

  test('is stored before the run is reported, and again after a temporary failure', async () => {
    await reconcileOnce();
    refusals = [new ApiError('PATCH', 500, 'x', 'try again')];
    await expect(finish({ 'id-1': 12 })).rejects.toThrow('try again');
    expect([outcomes(), history]).toEqual([['home running'], []]);
    await reconcileOnce();
    expect(outcomes()).toEqual(['home passed']);
    expect(history).toMatchObject([{ build: 1, tests: [{ numbers: [['time /', 12]] }] }]);
  });
});

describe('a test that cannot run', () => {
  test.each<[string, () => void, string]>([
    ['failed at the tester', () => tester.fail('id-1', 'the tester was restarted'), 'the tester was restarted'],
    ['lost by the tester', () => tester.runs.clear(), 'the tester has lost the run'],
    ['without a readiness', () => tester.finish('id-1', undefined, ''), 'does not report whether it passed'],
  ])('is reported as an error: %s', async (_what, happen, message) => {
    await reconcileOnce();
    happen();
    expect(await reconcileOnce()).toEqual({});
    expect(outcomes()).toEqual(['home error']);
    expect(tested()).toMatch(/^Unknown NotRun: build 1: 1 of 1 test could not run: home: /);
    expect(tested()).toContain(message);
  });

  test('ends with the message of the tester that refuses it', async () => {
    tester.failure = new TestRefusedError('paths: must be a list');
    expect(await reconcileOnce()).toEqual({});
    expect(tested()).toContain('home: the tester rejected it: paths: must be a list');
  });

  test.each<[Error, string]>([
    [new TesterUnreachableError('ECONNREFUSED'), 'TesterUnreachable'],
    [new TesterUnreachableError('the tester responded with status 503 to /test/run', 503), 'TesterUnreachable'],
    [new TesterUnreachableError('the tester responded with status 401 to /test/run', 401), 'TesterRefuses'],
    [new TesterBusyError('full'), 'TesterBusy'],
  ])('is retried after %s, for an hour at most', async (failure, reason) => {
    tester.failure = failure;
    expect(await reconcileOnce()).toEqual({ requeueAfterMs: 15_000 });
    expect(outcomes()).toEqual(['home pending']);
    expect(tested()).toContain(`Unknown ${reason}: build 1: 1 test under way; the tester`);
    await reconcileOnce();
    expect(writes).toBe(1);
    now += 3601_000;
    expect(await reconcileOnce()).toEqual({});
    expect(tested()).toContain('not finished after 60 minutes');
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ['are turned off', () => reconcileOnce(true), 'home: the service file has tests, which are disabled'],
    [
      'are of a version that cannot be read',
      () => {
        named = undefined;
        return reconcileOnce();
      },
      'home: the services were set up by another version',
    ],
  ])(
    'reports an error for tests in progress that %s, so that no commit waits for them',
    async (_what, happen, message) => {
      await reconcileOnce();
      await happen();
      expect(outcomes()).toEqual(['home error']);
      expect(tested()).toMatch(/^Unknown NotRun: /);
      expect(tested()).toContain(message);
      expect(needsReconcile(environment)).toBe(false);
    },
  );

  test('can have the name of a property that every object has', async () => {
    named = [{ ...home, name: 'constructor' }];
    await reconcileOnce();
    expect(outcomes()).toEqual(['constructor running']);
  });

  test('does not start while the environment is suspended, and is requeued afterwards', async () => {
    const suspended = { ...environment, spec: { ...environment.spec, suspend: true } };
    expect(isSameRequest(suspended, environment)).toBe(false);
    environment = suspended;
    expect(await reconcileOnce()).toEqual({});
    expect([outcomes(), tester.started]).toEqual([undefined, []]);
  });

  test('starts when the tester is back', async () => {
    tester.failure = new TesterUnreachableError('ECONNREFUSED');
    await reconcileOnce();
    tester.failure = undefined;
    await reconcileOnce();
    expect(outcomes()).toEqual(['home running']);
  });

  test('is a failure of the operator after other errors', async () => {
    tester.failure = new Error('a bug');
    await expect(reconcileOnce()).rejects.toThrow('a bug');
  });
});

describe('a Secret that cannot store the runs', () => {
  const refused = (code: number) => new ApiError('PATCH', code, 'x', 'field is immutable');

  test('starts no run, reports it, and gives up after an hour', async () => {
    const look403 = () => {
      refusals = [refused(403)];
      return reconcileOnce();
    };
    await expect(look403()).rejects.toThrow('immutable');
    expect(tested()).toBe('Unknown Retrying: build 1: 1 test under way; PATCH: 403 x: field is immutable');
    const { since } = environment.status?.tests ?? {};
    now += 60_000;
    await expect(look403()).rejects.toThrow('immutable');
    expect(environment.status?.tests?.since).toBe(since);
    now += 3600_000;
    expect(await look403()).toEqual({});
    expect(tested()).toContain('not finished after 60 minutes');
    expect([tester.started.length, writes]).toEqual([0, 2]);
  });

  test('of somebody else is reported with its reason', async () => {
    refusals = [new Waiting('SecretNotOwned', 'delete it', 30_000)];
    await expect(reconcileOnce()).rejects.toThrow('delete it');
    expect(tested()).toBe('Unknown SecretNotOwned: build 1: 1 test under way; delete it');
  });

  test.each([403, 422])('ends a run that was started and then refused with %i', async (code) => {
    refusals = [undefined, refused(code)];
    expect(await reconcileOnce()).toEqual({});
    expect(outcomes()).toEqual(['home error']);
    expect(tested()).toContain(
      "Unknown NotRun: build 1: 1 of 1 test could not run: home: Kubernetes rejected the Secret with the address of its run: field is immutable. Correct what it names, or ask an administrator to check the cluster's policies and quotas",
    );
    expect(await reconcileOnce()).toEqual({});
    expect(tester.started).toHaveLength(1);
  });

  test('is retried within the same hour after a temporary failure', async () => {
    refusals = [undefined, refused(500)];
    await expect(reconcileOnce()).rejects.toThrow('immutable');
    const { since } = environment.status?.tests ?? {};
    now += 1000;
    await reconcileOnce();
    expect(outcomes()).toEqual(['home running']);
    expect(environment.status?.tests?.since).toBe(since);
  });
});

describe('an environment without tests to run', () => {
  test('reports tests that are disabled, and starts them once they are enabled', async () => {
    expect(await reconcileOnce(true)).toEqual({});
    expect(tested()).toContain('Unknown TesterOff: the service file has tests');
    expect(environment.status?.tests).toBeUndefined();
    await reconcileOnce();
    expect(outcomes()).toEqual(['home running']);
  });

  test('causes no requests for a file without tests', async () => {
    named = undefined;
    environment = built(1);
    expect(needsReconcile(environment)).toBe(false);
    expect([await reconcileOnce(), writes]).toEqual([{}, 0]);
  });

  test('removes the status of tests with the contents', async () => {
    await reconcileOnce();
    const { deployed, ...status } = environment.status ?? {};
    environment = { ...environment, status };
    expect([deployed?.number, needsReconcile(environment)]).toEqual([1, true]);
    await reconcileOnce();
    expect([environment.status?.tests, tested(), kept]).toEqual([undefined, 'absent : ', undefined]);
    expect(needsReconcile(environment)).toBe(false);
  });

  test('is left unchanged while it is deleted', async () => {
    environment.metadata.deletionTimestamp = finishedAt;
    expect([await reconcileOnce(), needsReconcile(environment)]).toEqual([{}, false]);
  });

  test('reports a revision that cannot be read', async () => {
    environment = built(1);
    named = undefined;
    await reconcileOnce();
    expect(tested()).toContain('Unknown RevisionUnknown');
  });
});
