import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import request from 'supertest';
import { Environments } from '../network/environments.ts';
import { QueueFull } from '../runs/runs.ts';
import type { RunStatus } from '../runs/run.ts';
import { numberItem } from '../test-types/items.ts';
import { allTests } from '../test-types/all-tests.ts';
import { createApp } from './app.ts';

const token = 'a-token-of-more-than-20-characters';
const url = 'http://shop-main--acme.env.localhost:8080/';

const environments = new Environments('http://env.localhost:8080');
const loadPage = () => Promise.reject(new Error('no browser here'));
const tests = await allTests({ environments, loadPage, now: () => 0 });

/** Returns the interface over runs that are all in this state. */
function app(status: RunStatus = { state: 'running' }, startError?: Error) {
  const started: unknown[] = [];
  const runs = {
    start: async (...of: unknown[]) => {
      if (startError) throw startError;
      started.push(of);
      return { id: 'run-1', secret: 'secret-1' };
    },
    status: async (id: string, secret: string) => (id === 'run-1' && secret === 'secret-1' ? status : undefined),
    result: async () => [numberItem('time /', 12)],
  };
  const made = createApp({ readToken: () => token, tests, environments, runs, logger: pino({ enabled: false }) });
  return { app: made, started };
}

const authorization = `Bearer ${token}`;
const get = (of: ReturnType<typeof app>, path: string) => request(of.app).get(path).set({ authorization });
const run = (of: ReturnType<typeof app>, body: string | object) =>
  request(of.app).post('/test/run').set({ authorization, 'content-type': 'application/json' }).send(body);
const which = '?ID=run-1&Secret=secret-1';

describe('a token', () => {
  test.each([
    ['', 400],
    ['Bearer', 401],
    ['Bearer ', 401],
    [`Bearer ${token}x`, 401],
    [`Bearer ${token.slice(0, -1)}`, 401],
    [`Basic ${token}`, 401],
    [token, 401],
    [`bearer ${token}`, 200],
    [authorization, 200],
  ])('with the header %j is answered %i', async (given, status) => {
    const asking = request(app().app).get('/test/info');
    const answer = await (given === '' ? asking : asking.set({ authorization: given }));
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toContain(token);
  });

  test.each(['/test/run', '/test/status', '/test/results', '/test/nothing'])('is required at %s', async (path) => {
    const answer = await request(app().app).get(path);
    const error = 'no authentication found. Send Authorization: Bearer TOKEN';
    expect([answer.status, answer.body]).toEqual([400, { error }]);
    expect((await request(app().app).post(path).send('{')).status).toBe(400);
    const wrong = { authorization: 'Bearer wrong' };
    expect((await request(app().app).post(path).set(wrong).send('{')).status).toBe(401);
  });
});

test('describes each test with the JSON Schema of its params', async () => {
  const answer = await get(app(), '/test/info');
  const body = answer.body as { tests: { params: object }[] };
  expect(body).toEqual({
    tests: [
      expect.objectContaining({ type: 'http', images: false, description: expect.any(String) }),
      expect.objectContaining({ type: 'page', images: true, description: expect.any(String) }),
    ],
  });
  const [http] = body.tests;
  expect(http?.params).toMatchObject({
    type: 'object',
    required: ['url'],
    additionalProperties: false,
    properties: { paths: { type: 'array', maxItems: 20 } },
  });
});

test('starts a run', async () => {
  const of = app();
  const params = { url, paths: [{ path: '/health' }] };
  const answer = await run(of, { type: 'http', params });
  expect([answer.status, answer.body]).toEqual([202, { type: 'http', params, ID: 'run-1', Secret: 'secret-1' }]);
  expect(of.started).toEqual([['http', params, url, {}]]);
});

test.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
  'reads a body as JSON whatever its content type: %j',
  async (type) => {
    const of = app();
    const body = JSON.stringify({ type: 'http', params: { url } });
    const answer = await request(of.app).post('/test/run').set({ authorization, 'content-type': type }).send(body);
    expect([answer.status, of.started]).toEqual([202, [['http', { url }, url, {}]]]);
  },
);

test('queues a run for the group and the tenant that the caller names', async () => {
  const of = app();
  const answer = await run(of, { type: 'http', params: { url }, group: 'acme', tenant: 'account alice' });
  expect([answer.status, of.started]).toEqual([
    202,
    [['http', { url }, url, { group: 'acme', tenant: 'account alice' }]],
  ]);
});

describe('a run is refused', () => {
  test.each<[string | object, string | RegExp]>([
    ['{', /JSON/],
    ['', 'type: is missing: send a string'],
    ['[]', 'the body must be a JSON object, and is a list'],
    ['null', 'the body must be a JSON object, and is null'],
    [{}, 'type: is missing: send a string'],
    [{ type: 'http' }, 'params: is missing: send a JSON object'],
    [{ type: 'http', params: { url }, group: '' }, /^group/],
    [{ type: 'http', params: {} }, /^params\.url/],
    [{ type: 'load', params: { url } }, 'there is no test type load. Use one of http, page'],
    [{ type: 'load' }, 'there is no test type load. Use one of http, page'],
    [{ type: 'load', params: { seconds: 5 } }, 'there is no test type load. Use one of http, page'],
    [{ type: '__proto__', params: { url } }, 'there is no test type __proto__. Use one of http, page'],
    [{ type: 'http', params: { url, path: '/' } }, /^params.*path/],
    [{ type: 'page', params: { url, width: 10 } }, /^params\.width/],
    [
      { type: 'http', params: { url: 'http://evil.example/' } },
      'params.url is not the address of an environment. Use the weburl or an alias of one',
    ],
    [
      { type: 'page', params: { url: 'http://127.0.0.1:8080/' } },
      'params.url is not the address of an environment. Use the weburl or an alias of one',
    ],
    [
      { type: 'page', params: { url: 'file:///etc/passwd' } },
      'params.url is not the address of an environment. Use the weburl or an alias of one',
    ],
  ])('%j', async (body, error) => {
    const of = app();
    const answer = await run(of, body);
    expect([answer.status, answer.body]).toEqual([
      422,
      { error: typeof error === 'string' ? error : expect.stringMatching(error) },
    ]);
    expect(of.started).toEqual([]);
  });

  test.each([
    { type: 'x'.repeat(20_000), params: { url } },
    { type: 'http', params: { url, ['x'.repeat(20_000)]: 1 } },
    { type: 'http', params: { url, paths: Array.from({ length: 4000 }, () => 1) } },
  ])('with a message of limited length, whatever was sent, case %#', async (body) => {
    const answer = await run(app(), body);
    expect(answer.status).toBe(422);
    expect((answer.body as { error: string }).error.length).toBeLessThanOrEqual(1000);
  });

  test('with 429 when the queue is full', async () => {
    const answer = await run(app(undefined, new QueueFull('full')), { type: 'http', params: { url } });
    expect([answer.status, answer.body]).toEqual([429, { error: 'full' }]);
  });

  test('with 503 while Redis is away, without its message', async () => {
    const answer = await run(app(undefined, new Error('ECONNREFUSED 10.1.2.3')), { type: 'http', params: { url } });
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: 'the tester cannot handle the request now. Its log contains the reason' },
    ]);
  });

  test('with too large params', async () => {
    const answer = await run(app(), { type: 'http', params: { url, much: 'x'.repeat(40_000) } });
    expect(answer.status).toBe(413);
  });
});

describe('status', () => {
  test.each<[RunStatus, object]>([
    [{ state: 'queued' }, { Status: 'running' }],
    [{ state: 'running' }, { Status: 'running' }],
    [{ state: 'finished' }, { Status: 'finished' }],
    [
      { state: 'failed', message: 'no browser' },
      { Status: 'failed', message: 'no browser' },
    ],
  ])('%j', async (status, reported) => {
    const answer = await get(app(status), `/test/status${which}`);
    expect([answer.status, answer.body]).toEqual([200, { ID: 'run-1', Secret: 'secret-1', ...reported }]);
  });
});

describe('results', () => {
  test('of a finished run are returned', async () => {
    const answer = await get(app({ state: 'finished' }), `/test/results${which}`);
    const result = [{ Label: 'time /', Type: 'number', Content: 'MTI=' }];
    expect([answer.status, answer.body]).toEqual([200, { ID: 'run-1', Secret: 'secret-1', result }]);
  });

  test.each<[RunStatus['state'], string]>([
    ['queued', 'the test has not finished yet. Try again later'],
    ['running', 'the test has not finished yet. Try again later'],
    ['failed', 'the test could not run, so there are no results. GET /test/status says why'],
  ])('of a %s run are answered 409', async (state, error) => {
    const answer = await get(app({ state }), `/test/results${which}`);
    expect([answer.status, answer.body]).toEqual([409, { error }]);
  });
});

test.each(['/test/status', '/test/results'])(
  'answers 404 to %s of an unknown run, with the same body in all cases',
  async (path) => {
    const of = app({ state: 'finished' });
    for (const wrong of ['?ID=run-1&Secret=secret-2', '?ID=run-2&Secret=secret-1', '?ID=&Secret=']) {
      const answer = await get(of, path + wrong);
      expect([answer.status, answer.body]).toEqual([
        404,
        { error: 'there is no run with this ID and Secret, or its results have expired. Start the test again' },
      ]);
    }
    for (const unclear of ['', '?ID=run-1', '?ID=run-1&Secret=a&Secret=b']) {
      expect((await get(of, path + unclear)).status).toBe(422);
    }
  },
);
