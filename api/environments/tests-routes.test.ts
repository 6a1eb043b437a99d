import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment, type EnvironmentStatus } from '../../crds/environment.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import type { Run } from '../../tester-client/client.ts';
import { TesterUnreachableError, UnknownRunError } from '../../tester-client/errors.ts';
import type { ResultItem } from '../../tester-client/interface.ts';
import { TestApi } from '../testing/test-api.ts';

const path = '/api/environment/acme.shop-main/tests';
const startedAt = '2026-01-01T00:00:00Z';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const items: ResultItem[] = [
  { Label: 'passed', Type: 'string', Content: base64('false') },
  { Label: 'screenshot', Type: 'image', Content: 'iVBORw0KGgo=' },
];

/** The tester's results by ID and Secret of the run. */
let held: Map<string, ResultItem[] | Error>;
/** Number of requests to the tester. */
let asked: number;
/** The tester responds once this resolves. */
let gate: Promise<undefined> | undefined;
let api: TestApi;
let token: string;

const tester = {
  results: async ({ ID, Secret: secret }: Run): Promise<ResultItem[]> => {
    asked += 1;
    await gate;
    const found = held.get(`${ID} ${secret}`) ?? new UnknownRunError('no such run');
    if (found instanceof Error) throw found;
    return found;
  },
};

const status: EnvironmentStatus = {
  state: 'built',
  deployed: { number: 3, result: 'succeeded', startedAt, tests: 3 },
  tests: {
    build: 3,
    since: startedAt,
    runs: [
      { name: 'home', type: 'http', id: 'r1', outcome: 'passed', summary: 'all answer', finishedAt: startedAt },
      { name: 'looks', type: 'page', id: 'r2', outcome: 'failed', summary: '1 error', finishedAt: startedAt },
      { name: 'slow', type: 'page', id: 'r3', outcome: 'running' },
    ],
  },
  conditions: [
    { type: 'Tested', status: 'Unknown', reason: 'Running', message: '3 tests', lastTransitionTime: startedAt },
  ],
};

beforeEach(async () => {
  asked = 0;
  gate = undefined;
  held = new Map([
    ['r1 s1', [{ Label: 'passed', Type: 'string', Content: base64('true') }]],
    ['r2 s2', items],
  ]);
  await start(tester);
});

async function start(of: typeof tester | undefined): Promise<void> {
  api = new TestApi(undefined, undefined, undefined, undefined, of);
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  api.addRepository('acme', 'shop');
}

const asAlice = (sent: request.Test) => sent.set('x-service-token', token);
const get = (query = '') => asAlice(request(api.app).get(path + query));
const post = () => asAlice(request(api.app).post(path));

const found = (name: string, value: number) => ({ name, outcome: 'passed', numbers: [['time /', value]] });
const history: unknown = [
  { build: 3, commit: 'c3', finishedAt: startedAt, tests: [found('home', 30), found('looks', 300)] },
  { build: 2, commit: 'c2', finishedAt: startedAt, tests: [found('home', 20)] },
];

/** Adds the environment, and the Secret in which the operator stores its runs and their history. */
function add(of: EnvironmentStatus = status, owner?: string, stored = history): void {
  const { uid = '' } = api.addEnvironment('acme', 'shop-main', 'shop', of).metadata;
  const address = (n: number) => ({ ID: `r${n}`, Secret: `s${n}` });
  const kept = { build: 3, runs: { home: address(1), looks: address(2), slow: address(3) } };
  api.cluster.add(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'tests-shop-main',
      namespace: 'group-acme',
      ownerReferences: [
        { apiVersion: 'coppice.dev/v1alpha1', kind: 'Environment', name: 'shop-main', uid: owner ?? uid },
      ],
    },
    data: encodeTexts({ 'runs.json': JSON.stringify(kept), 'history.json': JSON.stringify(stored) }),
  });
}

describe('GET', () => {
  test('returns outcomes and results, and no Secret', async () => {
    add();
    const answer = await get().expect(200);
    expect(answer.body).toMatchObject({
      build: 3,
      tested: { status: 'Unknown', reason: 'Running' },
      tests: [
        { name: 'home', type: 'http', ID: 'r1', outcome: 'passed', summary: 'all answer' },
        { name: 'looks', outcome: 'failed', result: items },
        { name: 'slow', outcome: 'running' },
      ],
    });
    expect((answer.body as { tests: object[] }).tests[2]).toEqual({
      name: 'slow',
      type: 'page',
      ID: 'r3',
      outcome: 'running',
    });
    expect(answer.text).not.toMatch(/"s[123]"|Secret/);
    expect(answer.headers['content-type']).toContain('application/json');
  });

  test('returns one test by name', async () => {
    add();
    const answer = await get('?name=looks').expect(200);
    expect(answer.body).toMatchObject({ tests: [{ name: 'looks', result: items }] });
    expect((answer.body as { tests: object[] }).tests).toHaveLength(1);
    await get('?name=none').expect(404);
  });

  test('returns what the tests found over builds, newest first, also without the tester', async () => {
    const test = (name: string, value: number) => ({ ...found(name, value), numbers: [{ label: 'time /', value }] });
    const expected = [
      { build: 3, commit: 'c3', finishedAt: startedAt, tests: [test('home', 30), test('looks', 300)] },
      { build: 2, commit: 'c2', finishedAt: startedAt, tests: [test('home', 20)] },
    ];
    add();
    expect((await get().expect(200)).body).toMatchObject({ history: expected });
    expect((await get('?name=looks').expect(200)).body).toMatchObject({
      history: [{ build: 3, tests: [test('looks', 300)] }],
    });
    await start(undefined);
    add();
    expect((await get().expect(200)).body).toMatchObject({ history: expected });
  });

  test.each<[string, EnvironmentStatus, string | undefined, unknown]>([
    ['of a former environment of the same name', status, 'another uid', history],
    ['that a user has changed', status, undefined, [{ build: 'x' }]],
    ['without tests', { state: 'empty' }, undefined, history],
  ])('returns no history %s', async (_what, of, owner, stored) => {
    add(of, owner, stored);
    expect((await get().expect(200)).body).not.toHaveProperty('history');
  });

  test.each<[string, () => void, string]>([
    ['the tester keeps no more', () => held.clear(), 'the results are no longer kept. Run the tests again'],
    [
      'the tester cannot be asked for',
      () => held.set('r2 s2', new TesterUnreachableError('down')),
      'the tester does not respond. Try again later',
    ],
    [
      'are too large',
      () => held.set('r2 s2', [{ Label: 'x', Type: 'blob', Content: 'A'.repeat(4 * 1024 * 1024 + 4) }]),
      'the results are too large for one response. Request this test with ?name=',
    ],
  ])('returns a message for results that %s', async (_what, happen, message) => {
    add();
    happen();
    const answer = await get().expect(200);
    expect((answer.body as { tests: object[] }).tests[1]).toMatchObject({ name: 'looks', outcome: 'failed', message });
  });

  test('returns too large results only on their own', async () => {
    const large = [{ Label: 'x', Type: 'blob' as const, Content: 'A'.repeat(4 * 1024 * 1024 + 4) }];
    held.set('r2 s2', large);
    add();
    const answer = await get('?name=looks').expect(200);
    expect((answer.body as { tests: object[] }).tests[0]).toMatchObject({ name: 'looks', result: large });
  });

  test('waits once for a tester that does not respond, not once per test', async () => {
    held.set('r1 s1', new TesterUnreachableError('silent'));
    add();
    const answer = await get().expect(200);
    const message = 'the tester does not respond. Try again later';
    expect((answer.body as { tests: object[] }).tests).toMatchObject([{ message }, { message }, { name: 'slow' }]);
    expect(asked).toBe(1);
  });

  test('sends one response with results at a time to each account', async () => {
    add();
    const opened = Promise.withResolvers<undefined>();
    gate = opened.promise;
    const first = get().then(({ status: answered }) => answered);
    while (asked === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const refused = await get().expect(503);
    expect(refused.body).toEqual({
      error: expect.stringMatching(/^another response with test results is being sent to you/),
    });
    expect(refused.headers['retry-after']).toBe('5');
    opened.resolve(undefined);
    expect(await first).toBe(200);
    await get().expect(200);
  });

  test('ignores runs of a former environment of the same name', async () => {
    add(status, 'another uid');
    const answer = await get().expect(200);
    expect((answer.body as { tests: object[] }).tests[0]).toMatchObject({
      message: expect.stringContaining('no longer kept'),
    });
  });

  test('returns an empty list without tests', async () => {
    add({ state: 'empty' });
    expect((await get().expect(200)).body).toEqual({ tests: [] });
  });

  test('is hidden from others', async () => {
    add();
    const { token: other } = await api.login('mallory@example.com');
    await request(api.app).get(path).set('x-service-token', other).expect(404);
  });
});

describe('POST', () => {
  const annotation = () =>
    api.cluster.all<Environment>(ENVIRONMENT)[0]?.metadata.annotations?.['coppice.dev/request-test'];

  test('requests the tests again', async () => {
    add();
    const answer = await post().expect(202);
    expect(answer.body).toMatchObject({ build: 3 });
    expect(annotation()).toMatch(/^2026-01-02T00:00:00.000Z\/[0-9a-f-]{12,}$/);
  });

  test.each<[string, EnvironmentStatus, string]>([
    ['nothing runs', { state: 'created' }, 'no build of the environment is deployed'],
    [
      'no tests are named',
      { deployed: { number: 1, result: 'succeeded', startedAt } },
      'the service file names no tests. Add them to x-coppice.tests, then request a build',
    ],
  ])('answers 409 where %s', async (_what, of, message) => {
    add(of);
    expect((await post().expect(409)).body).toMatchObject({ error: expect.stringContaining(message) });
    expect(annotation()).toBeUndefined();
  });

  test('are waiting from the request, or a new build, until they start', async () => {
    const waitingIn = async (of: EnvironmentStatus, name: string) => {
      api.addEnvironment('acme', name, 'shop', of);
      const answer = await request(api.app).get(`/api/environment/acme.${name}/tests`).set('x-service-token', token);
      return (answer.body as { waiting?: true }).waiting;
    };
    add();
    expect((await get().expect(200)).body).not.toHaveProperty('waiting');
    expect((await post().expect(202)).body).toMatchObject({ waiting: true, build: 3 });
    expect((await get().expect(200)).body).toMatchObject({ waiting: true });
    const { tests, deployed } = status;
    if (!tests || !deployed) throw new Error('the status has no tests');
    expect(await waitingIn({ ...status, deployed: { ...deployed, number: 4 } }, 'shop-built')).toBe(true);
    expect(await waitingIn({ ...status, tests: { ...tests, request: 'r1' } }, 'shop-started')).toBeUndefined();
  });

  test('answers 409 if tests are disabled, and still returns earlier outcomes without results', async () => {
    await start(undefined);
    add();
    await post().expect(409);
    const answer = await get().expect(200);
    expect((answer.body as { tests: object[] }).tests[0]).toEqual({
      ...status.tests?.runs[0],
      id: undefined,
      ID: 'r1',
    });
  });
});
