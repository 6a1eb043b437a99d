import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment, type EnvironmentStatus } from '../../crds/environment.ts';
import type { BuildStatus } from '../../crds/environment-build.ts';
import { GROUP } from '../../crds/group.ts';
import { requestAnnotation, requestValue } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { TestApi } from '../testing/test-api.ts';

const path = '/api/environment/acme.shop-main';
const at = { namespace: 'group-acme', name: 'shop-main' };
const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n));
const value = (n: number) => requestValue(second(n), 'x');
const activation = sampleActivation({ since: second(1).toISOString() });
const build = (number: number, result: BuildStatus['result'], changes: Partial<BuildStatus> = {}) => ({
  ...{ number, result, commit: `c${number}`, trigger: 'build' as const, startedAt: second(number * 10).toISOString() },
  ...(result !== 'running' && { finishedAt: second(number * 10 + 5).toISOString() }),
  ...changes,
});
const finished = (number: number, changes: Partial<BuildStatus> = {}) => ({
  ...build(number, 'succeeded', changes),
  finishedAt: second(number * 10 + 5).toISOString(),
});
const seconds = (n: number) => second(n).getTime() / 1000;

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

const get = (rest: string) => request(api.app).get(`${path}${rest}`).set('x-service-token', token);
const add = (status: EnvironmentStatus) => api.addEnvironment('acme', 'shop-main', 'shop', { activation, ...status });
const change = (status: EnvironmentStatus) => api.cluster.change(ENVIRONMENT, at, { status });
const annotate = (name: 'build' | 'rebuild' | 'delete', text: string) =>
  api.cluster.change(ENVIRONMENT, at, { metadata: { annotations: { [requestAnnotation(name)]: text } } });

describe('GET builds', () => {
  test('lists running and finished builds, newest first', async () => {
    add({ state: 'building', build: build(3, 'running'), builds: [finished(2, { request: value(15) }), finished(1)] });
    const body = (await get('/builds').expect(200)).body as unknown;
    const stages = (startedAt: number) => [{ name: 'build', startedAt, duration: 5 }];
    expect(body).toEqual([
      {
        ...{ number: 3, result: 'running', commit: 'c3', trigger: 'build', startedAt: seconds(30) },
        stages: [{ name: 'build', startedAt: seconds(30) }],
      },
      {
        ...{ number: 2, result: 'succeeded', commit: 'c2', trigger: 'build', request: value(15) },
        ...{ startedAt: seconds(20), duration: 5, stages: stages(seconds(20)) },
      },
      {
        ...{ number: 1, result: 'succeeded', commit: 'c1', trigger: 'build' },
        ...{ startedAt: seconds(10), duration: 5, stages: stages(seconds(10)) },
      },
    ]);
  });

  test('shows the stages, the commit and the size of each', async () => {
    const commit = { author: 'Ada', subject: 'Fix the cart', sizeBytes: 182_000_000 };
    const rolledOut = { rolloutStartedAt: new Date((seconds(20) + 3.5) * 1000).toISOString() };
    add({ state: 'built', build: build(2, 'succeeded'), builds: [finished(2, { ...commit, ...rolledOut })] });
    change({ build: build(2, 'succeeded', { ...commit, ...rolledOut, finishedAt: second(25).toISOString() }) });
    const [shown] = (await get('/builds').expect(200)).body as unknown[];
    expect(shown).toMatchObject({
      ...{ author: 'Ada', subject: 'Fix the cart', size: 182_000_000 },
      stages: [
        { name: 'build', startedAt: seconds(20), duration: 3.5 },
        { name: 'rollout', startedAt: seconds(20) + 3.5, duration: 1.5 },
      ],
    });
  });

  test('lists the awaited build, and the last one once', async () => {
    add({ state: 'built', build: build(1, 'failed', { message: 'exit 1' }), builds: [finished(1)] });
    annotate('build', value(50));
    const body = (await get('/builds').expect(200)).body as unknown;
    expect(body).toMatchObject([
      { number: 2, result: 'pending', request: value(50) },
      { number: 1, result: 'failed', message: 'exit 1' },
    ]);
    expect(body).toHaveLength(2);
  });

  test('names a request only with the build that it started, not with a later scheduled one', async () => {
    const served = { request: value(15) };
    const builds = [finished(3, { ...served, trigger: 'schedule' }), finished(2, served), finished(1)];
    const last = build(3, 'succeeded', { ...served, trigger: 'schedule' });
    add({ state: 'built', build: last, builds, handledRequests: { build: value(15) } });
    annotate('build', value(15));
    const body = (await get('/builds').expect(200)).body as { request?: string }[];
    expect(body.map(({ request: shown }) => shown)).toEqual([undefined, value(15), undefined]);
    expect((await get('?build=false').expect(200)).body).toMatchObject({ build: { number: 3, trigger: 'schedule' } });
    expect((await get('?build=false').expect(200)).body).not.toHaveProperty('build.request');
    expect((await get(`/build?request=${value(15)}`).expect(200)).body).toMatchObject({
      number: 2,
      request: value(15),
    });
  });

  test('is empty before the first build', async () => {
    add({ state: 'created' });
    expect((await get('/builds').expect(200)).body).toEqual([]);
  });
});

describe('GET build/{number}', () => {
  beforeEach(() => {
    add({ state: 'built', build: build(2, 'failed', { message: 'exit 1' }), builds: [finished(1)] });
  });

  test.each([
    ['1', { number: 1, result: 'succeeded', commit: 'c1' }],
    ['2', { number: 2, result: 'failed', message: 'exit 1' }],
  ])('%s', async (number, expected) => {
    expect((await get(`/build/${number}?wait=60`).expect(200)).body).toMatchObject(expected);
  });

  test.each(['0', '3', 'x', '1e1', '99999999999'])('answers %s with 404 without waiting', async (number) => {
    await get(`/build/${number}?wait=60`).expect(404);
  });

  test.each(['-1', '61', 'long'])('answers wait=%s with 422', async (wait) => {
    await get(`/build/1?wait=${wait}`).expect(422);
  });

  test('does not affect the route of the logs', async () => {
    const body = (await get('/build/logs').expect(404)).body as unknown;
    expect(body).toEqual({ error: expect.stringContaining('the log of build 2') });
  });
});

describe('wait', () => {
  /** Returns the response, and whether it has arrived. */
  function asked(rest: string) {
    const state = { isOver: false };
    const answer = get(rest).then((got) => {
      state.isOver = true;
      return got;
    });
    return { answer, state };
  }

  const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

  test('answers as soon as the requested build has ended', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const { answer, state } = asked('/build/1?wait=30');
    await pause();
    change({ build: build(1, 'running', { rolloutStartedAt: second(12).toISOString() }) });
    await pause();
    expect(state.isOver).toBe(false);
    // Superseded at once: the awaited build is already in the history.
    change({ build: build(2, 'running'), builds: [{ ...finished(1), result: 'superseded' }] });
    const { status, body } = (await answer) as { status: number; body: unknown };
    expect(status).toBe(200);
    expect(body).toMatchObject({ number: 1, result: 'superseded' });
  });

  test('continues while a request is only handled, and follows the build that it starts', async () => {
    add({ state: 'built', build: build(1, 'succeeded'), builds: [finished(1)] });
    annotate('build', value(50));
    const { answer, state } = asked(`/build?wait=30&request=${value(50)}`);
    await pause();
    change({ handledRequests: { build: value(50) }, activation: { ...activation, buildPending: true } });
    await pause();
    change({ activation, state: 'building', build: build(2, 'running', { request: value(50) }) });
    await pause();
    expect(state.isOver).toBe(false);
    change({ state: 'built', build: build(2, 'succeeded', { request: value(50) }) });
    expect((await answer).body).toMatchObject({ number: 2, result: 'succeeded', request: value(50) });
  });

  test('ends after the given time, and returns the current state', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const { status, body } = (await get('/build/1?wait=1')) as { status: number; body: unknown };
    expect(status).toBe(200);
    expect(body).toMatchObject({ number: 1, result: 'running' });
  });

  test('ends when the environment is deleted', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const { answer } = asked('/build?wait=30');
    await pause();
    api.cluster.remove(ENVIRONMENT, at);
    expect((await answer).status).toBe(404);
  });

  test('ends when the server stops', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const { answer } = asked('/build?wait=30');
    await pause();
    api.webSockets.close();
    expect((await answer).body).toMatchObject({ result: 'running' });
  });

  test('returns nothing to a caller who can no longer see the environment', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const { answer } = asked('/build?wait=30');
    await pause();
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: ['bob@example.com'] } });
    change({ build: build(1, 'succeeded') });
    expect((await answer).status).toBe(404);
  });

  test('returns nothing to a token that was deleted, or a login that ended, during the wait', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const { answer } = asked('/build?wait=30');
    await pause();
    await request(api.app).post('/api/user/logout').set('x-service-token', token).expect(200);
    change({ build: build(1, 'succeeded') });
    expect((await answer).status).toBe(401);
  });

  test('is limited per account', async () => {
    add({ state: 'building', build: build(1, 'running') });
    const waits = Array.from({ length: 20 }, () => asked('/build?wait=30').answer);
    await pause();
    await pause();
    const refused = await get('/build?wait=30');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('5');
    await get('/build').expect(200);
    change({ build: build(1, 'succeeded') });
    expect((await Promise.all(waits)).map(({ status }) => status)).toEqual(waits.map(() => 200));
  });
});

describe('GET build?request=', () => {
  const of = (text: string) => get(`/build?request=${text}`);

  test.each<[string, EnvironmentStatus, number, object]>([
    [
      'became a build',
      { build: build(2, 'running', { request: value(15) }), builds: [finished(1)] },
      15,
      { number: 2 },
    ],
    [
      'joined a build',
      { build: build(2, 'running', { request: value(17) }), builds: [finished(1)] },
      15,
      { number: 2 },
    ],
    [
      'was served by a build before the last',
      { build: build(2, 'running', { request: value(17) }), builds: [finished(1, { request: value(15) })] },
      15,
      { number: 1, result: 'succeeded' },
    ],
    [
      'waits for its build',
      { build: build(1, 'succeeded'), builds: [finished(1)] },
      50,
      { number: 2, result: 'pending' },
    ],
    ['may join the running build', { build: build(1, 'running') }, 50, { result: 'pending' }],
    [
      'ended without a build, because the contents were deleted',
      { activation: { ...activation, active: false }, handledRequests: { build: value(50) } },
      50,
      { result: 'cancelled' },
    ],
  ])('%s', async (_what, status, asked, expected) => {
    add(status);
    annotate('build', value(50));
    const body = (await of(value(asked)).expect(200)).body as unknown;
    expect(body).toMatchObject({ request: value(asked), ...expected });
    if (!('number' in expected)) expect(body).not.toHaveProperty('number');
  });

  test.each<[string, EnvironmentStatus, number]>([
    ['that was never sent', {}, 51],
    [
      'whose build is no longer kept',
      { build: finished(12, { request: value(40) }), builds: [finished(11, { request: value(30) })] },
      20,
    ],
  ])('answers 404 for a request %s', async (_what, status, asked) => {
    add(status);
    annotate('build', value(50));
    await of(value(asked)).expect(404);
  });

  test('returns the oldest build that is kept', async () => {
    add({ build: finished(12, { request: value(30) }) });
    annotate('build', value(50));
    expect((await of(value(30)).expect(200)).body).toMatchObject({ number: 12 });
  });

  test('answers 422 for an ID that is not valid', async () => {
    add({});
    await of('latest').expect(422);
  });
});

test.each<['build' | 'rebuild', EnvironmentStatus, object]>([
  ['build', { state: 'built', build: build(1, 'succeeded') }, { build: 2 }],
  ['build', { state: 'building', build: build(1, 'running') }, {}],
  ['rebuild', { state: 'building', build: build(1, 'running') }, { build: 2 }],
])('names the request in the response to POST %s, and its build if that is known', async (what, status, expected) => {
  add(status);
  const body = (await request(api.app).post(`${path}/${what}`).set('x-service-token', token).expect(202))
    .body as unknown;
  const { metadata } = api.cluster.all<Environment>(ENVIRONMENT)[0] ?? {};
  const id = metadata?.annotations?.[requestAnnotation(what)];
  expect(body).toMatchObject({ status: 'building', pendingRequests: [{ name: what, id }] });
  expect((body as { request: object }).request).toEqual({ id, ...expected });
  if (what === 'rebuild' || status.state === 'built') {
    expect((await get('').expect(200)).body).toMatchObject({ status: 'building' });
  }
});

test('does not return the previous build as the current one after a request was accepted', async () => {
  add({ state: 'built', build: build(1, 'succeeded') });
  await request(api.app).post(`${path}/rebuild`).set('x-service-token', token).expect(202);
  expect((await get('').expect(200)).body).toMatchObject({
    status: 'building',
    build: { number: 2, result: 'pending' },
  });
});
