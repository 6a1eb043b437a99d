import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import { beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import { startServer, stopServer } from '../http/server.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_BUDGETS } from '../testing/test-options.ts';

/** A build's log as plain text: commit statuses link here, and users open it in a browser. */

const path = '/api/environment/acme.shop-main/build/logs';
const startedAt = '2026-01-01T00:00:00Z';
const time = startedAt;
const line = (seq: number, text = `line ${seq}`) => ({ seq, time, service: 'web', stage: 'build', line: text });
const end = (seq: number) => ({ seq, time, end: { result: 'failed', message: 'web: exit code 1' } });

let api: TestApi;
let environment: Environment;
let token: string;

beforeEach(async () => {
  api = new TestApi();
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  const build = { number: 2, result: 'running', startedAt } as const;
  environment = api.addEnvironment('acme', 'shop-main', 'shop', { state: 'building', build });
  api.addEnvironment('acme', 'shop-done', 'shop', {
    state: 'created',
    build: { number: 1, result: 'failed', startedAt, finishedAt: startedAt },
  });
  api.addEnvironment('acme', 'shop-empty', 'shop', { state: 'empty' });
});

const logId = (number: number) => `${environment.metadata.uid}/${number}`;
const get = (where = path) => request(api.app).get(where).set('x-service-token', token);

test('returns the whole log of a finished build', async () => {
  api.logReader.write(logId(1), line(1), { ...line(2), service: '', stage: 'clone' });
  api.logReader.write(logId(1), line(3), end(4));
  const answer = await get(`${path}?build=1`);
  expect(answer).toMatchObject({ status: 200, type: 'text/plain', charset: 'utf-8' });
  expect(answer.text).toBe(
    '[web build] line 1\n[clone] line 2\n[web build] line 3\n-- build failed: web: exit code 1\n',
  );
  // The browser shows output of other people's programs and does not run it.
  expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
});

test('returns the existing lines of a running build without waiting', async () => {
  expect((await get()).text).toBe('-- the build is running: reload for more\n');
  api.logReader.write(logId(2), line(1));
  expect((await get()).text).toBe('[web build] line 1\n-- the build is running: reload for more\n');
  api.logReader.write(logId(2), end(2));
  expect((await get()).text).toBe('[web build] line 1\n-- build failed: web: exit code 1\n');
});

test.each(['', '?build=3'])('reads the requested build, not the last one, before it starts (%j)', async (query) => {
  api.logReader.write(logId(2), line(1), end(2));
  const status = { state: 'built', build: { number: 2, result: 'succeeded', startedAt, finishedAt: startedAt } };
  const annotations = { [requestAnnotation('build')]: '2026-01-01T00:00:02Z/next' };
  api.cluster.change(
    ENVIRONMENT,
    { namespace: 'group-acme', name: 'shop-main' },
    { metadata: { annotations }, status },
  );
  const answer = await get(`${path}${query}`).expect(200);
  expect(answer.text).toBe('-- build 3 has not started: reload for more\n');
  expect(answer.headers).toMatchObject({ 'x-build-number': '3' });
  await get(`${path}?build=4`).expect(404);
});

test('adds no more listeners than Node permits', async () => {
  api.logReader.write(logId(2), line(1), end(2));
  let beyond = 0;
  const observed: RequestListener = (received, response) => {
    response.on('newListener', (event: string | symbol) => {
      const listeners = response.listenerCount(event) + 1;
      if (listeners > response.getMaxListeners()) beyond = listeners;
    });
    api.app(received, response);
  };
  const answer = await request(observed).get(path).set('x-service-token', token).expect(200);
  expect([answer.text, beyond]).toEqual(['[web build] line 1\n-- build failed: web: exit code 1\n', 0]);
});

test('omits lines up to ?from=', async () => {
  api.logReader.write(logId(2), line(1), line(2), end(3));
  expect((await get(`${path}?from=1`)).text).toBe('[web build] line 2\n-- build failed: web: exit code 1\n');
  expect((await get(`${path}?build=1&from=9`)).text).toBe('');
});

test('removes control sequences of terminals and line breaks from lines', async () => {
  api.logReader.write(logId(2), line(1, '\u001b[31mred\u001b[0m\tä\r\u0007\n-- build succeeded'), end(2));
  expect((await get()).text.split('\n')[0]).toBe('[web build] red\tä  -- build succeeded');
});

test('answers HEAD without the body', async () => {
  api.logReader.write(logId(2), line(1), end(2));
  const answer = await request(api.app).head(path).set('x-service-token', token);
  expect(answer).toMatchObject({ status: 200, type: 'text/plain' });
  expect(answer.text).toBeUndefined();
  await request(api.app).head('/api/environment/acme.shop-empty/build/logs').set('x-service-token', token).expect(404);
});

test.each([
  [
    'an environment without a build',
    '/api/environment/acme.shop-empty/build/logs',
    'no build has been requested yet. POST …/build requests one',
  ],
  [
    'a log that is not kept',
    '/api/environment/acme.shop-done/build/logs',
    'the log of build 1 is no longer kept. GET …/builds lists the builds',
  ],
  [
    'a build that does not exist',
    `${path}?build=3`,
    'there is no build of this number yet. GET …/builds lists the builds',
  ],
])('answers %s with 404', async (_name, where, error) => {
  const answer = await get(where);
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status: 404, body: { error } });
});

test('answers 503 when Redis does not respond', async () => {
  api.logReader.failure = new Error('Connection is closed');
  const answer = await get();
  expect(answer).toMatchObject({
    status: 503,
    body: { error: 'the log cannot be read, because Redis does not respond. Try again in a few seconds' },
  });
});

test('refuses callers who are not logged in or cannot see the environment', async () => {
  const { token: mallory } = await api.login('mallory@example.com');
  const answer = await request(api.app).get(path).set('accept', 'text/html');
  expect(answer).toMatchObject({ status: 400, type: 'text/html' });
  expect(answer.text).toMatch(/X-SERVICE-TOKEN.*cookie.*\/api\/user\/login/);
  expect((await request(api.app).get(path).set('x-service-token', mallory)).status).toBe(404);
  // The request comes from a link on a page of the Git host.
  const cookie = { cookie: `token=${token}`, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect((await request(api.app).get(path).set(cookie)).status).toBe(200);
});

test('reads a log only as fast as the client does, and stops when the client stops', async () => {
  const pageCount = 300;
  for (let page = 0; page < pageCount; page++) {
    const first = page * 1000 + 1;
    api.logReader.write(
      logId(2),
      ...Array.from({ length: 8 }, (_, index) => line(first + index, 'x'.repeat(16 * 1024))),
    );
  }
  let read = 0;
  const original = api.logReader.readKept.bind(api.logReader);
  const ended = Promise.withResolvers<undefined>();
  api.logReader.readKept = async function* (...parameters) {
    try {
      for await (const page of original(...parameters)) {
        read++;
        yield page;
      }
    } finally {
      ended.resolve(undefined);
    }
  };
  const { server, port }: { server: Server; port: number } = await startServer(api.app, api.webSockets, 0);
  try {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-service-token: ${token}\r\n\r\n`);
    await once(socket, 'readable');
    for (let before = -1; before !== read;) {
      before = read;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(pageCount);
    socket.destroy();
    await ended.promise;
    expect(read).toBeLessThan(pageCount);
  } finally {
    await stopServer(server, api.webSockets, 100);
  }
});

test('counts unread logs towards the memory of the account', async () => {
  const small = new TestApi({ budgets: { ...TEST_BUDGETS, requestMemoryBytes: 16 * 1024 * 1024 } });
  const { token: reader } = await small.login('alice@example.com');
  const { token: other } = await small.login('bob@example.com');
  small.addGroup('acme', ['alice@example.com', 'bob@example.com']);
  const build = { number: 1, result: 'running', startedAt } as const;
  const { metadata } = small.addEnvironment('acme', 'shop-main', 'shop', { state: 'building', build });
  for (let page = 0; page < 300; page++) {
    const lines = Array.from({ length: 8 }, (_, index) => line(page * 8 + index + 1, 'x'.repeat(16 * 1024)));
    small.logReader.write(`${metadata.uid}/1`, ...lines);
  }
  const { server, port }: { server: Server; port: number } = await startServer(small.app, small.webSockets, 0);
  const ask = (by: string) => request(`http://127.0.0.1:${port}`).get('/api/groups').set('x-service-token', by);
  try {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-service-token: ${reader}\r\n\r\n`);
    await once(socket, 'readable');
    const refused = await request(`http://127.0.0.1:${port}`).get(path).set('x-service-token', reader);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '2']);
    expect((await ask(other)).status).toBe(200);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await ask(reader)).status).toBe(200);
  } finally {
    await stopServer(server, small.webSockets, 100);
  }
});

test('names the build and its commit in headers', async () => {
  api.cluster.change(ENVIRONMENT, environment.metadata, { status: { build: { commit: 'c2' } } });
  api.logReader.write(logId(2), line(1));
  expect((await get()).headers).toMatchObject({ 'x-build-number': '2', 'x-build-commit': 'c2' });
  api.logReader.write(logId(1), end(1));
  const { headers } = await get(`${path}?build=1`);
  expect(headers['x-build-number']).toBe('1');
  expect(headers).not.toHaveProperty('x-build-commit');
});

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const open = (where: string) => request(api.app).get(where).set('accept', browser);

test.each<[string, Record<string, string>, number]>([
  ['without a login', {}, 400],
  ['with one that has ended', { cookie: 'token=old' }, 401],
])('answers a browser %s with a page that explains how to log in', async (_what, headers, status) => {
  const answer = await open(`${path}?build=2`).set(headers).expect(status);
  expect(answer).toMatchObject({ type: 'text/html', charset: 'utf-8' });
  expect(answer.text).toContain('<h1>Log in to read this log</h1>');
  expect(answer.text).toContain('http://coppice.localhost:8080/api/environment/acme.shop-main/build/logs?build=2');
  expect(answer.text).not.toContain('/api/user/oidc/login');
});

test('links the OpenID Connect provider for a browser, if there is one', async () => {
  const oidc = { issuer: 'https://login.example', clientId: 'coppice', landingPage: '/' } as never;
  const answer = await request(new TestApi({ oidc }).app).get(path).set('accept', browser).expect(400);
  expect(answer.text).toContain('/api/user/oidc/login');
});

test('answers errors to a browser as a page, and the log as text', async () => {
  const gone = await open('/api/environment/acme.shop-done/build/logs').set('cookie', `token=${token}`).expect(404);
  expect(gone.type).toBe('text/html');
  expect(gone.text).toContain('the log of build 1 is no longer kept. GET …/builds lists the builds');
  api.logReader.write(logId(2), line(1));
  expect((await open(path).set('cookie', `token=${token}`).expect(200)).type).toBe('text/plain');
});

test('escapes the address in the page', async () => {
  const { text } = await open(`${path}?x=<script>alert(1)</script>&y=';reboot;'`).expect(400);
  expect(text).not.toContain('<script>');
  expect(text).not.toMatch(/(&#39;.*){3}/);
});

test.each(['*/*', 'application/json', undefined])('answers JSON to a client that accepts %s', async (accept) => {
  const asked = request(api.app).get(path);
  const answer = await (accept === undefined ? asked : asked.set('accept', accept)).expect(400);
  expect(answer.body).toEqual({ error: expect.any(String) });
  expect((await open('/api/groups').expect(400)).type).toBe('application/json');
});
