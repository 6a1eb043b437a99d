import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { WebSocket, type ClientOptions } from 'ws';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { startServer, stopServer } from '../http/server.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_NAMESPACE, TEST_ORIGIN } from '../testing/test-options.ts';
import { userName } from '../user-records/user-record.ts';
import type { LogTimes } from './log-stream.ts';

const path = '/api/environment/acme.shop-main/build/logs';
const at = { namespace: 'group-acme', name: 'shop-main' };
const build = { number: 2, result: 'running', startedAt: '2026-01-01T00:00:00Z' } as const;

let api: TestApi;
let environment: Environment;
let token: string;
let server: Server;
let port: number;

async function start(times: LogTimes = {}): Promise<void> {
  api = new TestApi({}, undefined, { startTimeoutMs: 300, silenceMs: 50, ...times });
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  environment = api.addEnvironment('acme', 'shop-main', 'shop', { state: 'building', build });
  ({ server, port } = await startServer(api.app, api.webSockets, 0));
}

async function restart(times: LogTimes): Promise<void> {
  await stopServer(server, api.webSockets, 100);
  await start(times);
}

beforeEach(() => start());
afterEach(() => stopServer(server, api.webSockets, 100));

const logId = (number: number) => `${environment.metadata.uid}/${number}`;

/** Connects, and collects everything until the close. */
function connect(query = '', options: ClientOptions = { headers: { 'x-service-token': token } }) {
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}${query}`, options);
  const messages: unknown[] = [];
  const frames: string[] = [];
  client.on('message', (data: Buffer) => {
    frames.push(data.toString());
    messages.push(
      ...data
        .toString()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    );
  });
  const closed = new Promise<{ code: number; reason: string; messages: unknown[] }>((resolve) => {
    client.on('close', (code, reason) => resolve({ code, reason: reason.toString(), messages }));
  });
  const refused = new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    client.on('error', reject);
    client.on('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(body) as unknown }));
    });
  });
  refused.catch(() => undefined);
  const opened = new Promise((resolve) => client.on('open', resolve));
  return { client, frames, closed, refused, opened };
}

const line = (seq: number) => ({
  seq,
  time: '2026-01-01T00:00:00Z',
  service: 'web',
  stage: 'build',
  line: `line ${seq}`,
});
const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index + 1));

test('streams existing lines, then new ones in order, and closes with 1000', async () => {
  api.logReader.write(logId(2), ...lines(500));
  const { opened, closed } = connect();
  await opened;
  api.logReader.write(logId(2), line(501), line(502));
  api.logReader.end(logId(2));
  expect(await closed).toEqual({ code: 1000, reason: 'the build has ended', messages: lines(502) });
});

test('sends the build and its commit first with ?header=true', async () => {
  api.cluster.change(ENVIRONMENT, at, { status: { build: { ...build, commit: 'c2', trigger: 'build' } } });
  api.logReader.write(logId(2), line(1));
  api.logReader.end(logId(2));
  const { messages } = await connect('?header=true').closed;
  const startedAt = Date.parse(build.startedAt) / 1000;
  const stages = [{ name: 'build', startedAt }];
  const header = { number: 2, result: 'running', commit: 'c2', trigger: 'build', startedAt, stages };
  expect(messages).toEqual([{ header }, line(1)]);
});

test('sends available lines in one frame of limited size that all viewers share', async () => {
  api.logReader.write(logId(2), ...lines(100));
  api.logReader.write(logId(2), ...lines(1100).slice(100));
  api.logReader.end(logId(2));
  const viewers = [connect(), connect()];
  for (const { frames, closed } of viewers) {
    expect(await closed).toMatchObject({ code: 1000, messages: lines(1100) });
    const sizes = frames.map((frame) => frame.split('\n').length);
    expect(sizes[0]).toBe(100);
    expect(sizes.length).toBe(3);
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(64 * 1024);
  }
});

test('continues after ?from=, and reads the build that ?build= names', async () => {
  api.logReader.write(logId(1), ...lines(3));
  api.logReader.end(logId(1));
  expect((await connect('?build=1&from=2').closed).messages).toEqual([line(3)]);
});

test('slows down for a slow reader, and sends everything', async () => {
  const large = lines(300).map((message) => ({ ...message, line: 'x'.repeat(64 * 1024) }));
  let read = 0;
  const original = api.logReader.read.bind(api.logReader);
  api.logReader.read = async function* (...parameters) {
    for await (const page of original(...parameters)) {
      read++;
      yield page;
    }
  };
  for (const message of large) api.logReader.write(logId(2), message);
  api.logReader.end(logId(2));
  const { client, opened, closed } = connect();
  await opened;
  client.pause();
  // No page was read for a while, so the sockets of both sides are full.
  for (let before = -1; before !== read || read === 0;) {
    before = read;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(read).toBeLessThan(large.length);
  client.resume();
  const { code, messages } = await closed;
  expect({ code, count: messages.length }).toEqual({ code: 1000, count: large.length });
});

test('uses at most 320 KiB for a reader that does not read, and disconnects it', async () => {
  await stopServer(server, api.webSockets, 100);
  await start({ stallTimeoutMs: 300 });
  const large = lines(300).map((message) => ({ ...message, line: 'x'.repeat(60 * 1024) }));
  for (const message of large) api.logReader.write(logId(2), message);
  const sockets: Socket[] = [];
  server.on('upgrade', (_request, socket: Socket) => sockets.push(socket));
  const { client, opened } = connect();
  await opened;
  client.pause();
  const [socket] = sockets;
  await new Promise((resolve) => socket?.once('close', resolve));
  expect(socket?.bytesWritten).toBeGreaterThan(200 * 1024);
  expect(socket?.bytesWritten).toBeLessThan(325 * 1024);
  client.terminate();
});

test('permits 32 logs per account, without affecting others, and frees the slot of a closed one', async () => {
  api.logReader.write(logId(2), line(1));
  const followed = Array.from({ length: 32 }, () => connect());
  await Promise.all(followed.map(({ opened }) => opened));
  expect(await connect().refused).toMatchObject({ status: 429, body: { error: expect.stringContaining('32 logs') } });
  const bob = await api.login('bob@example.com');
  api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: ['alice@example.com', 'bob@example.com'] } });
  await connect('', { headers: { 'x-service-token': bob.token } }).opened;
  followed[0]?.client.close();
  await followed[0]?.closed;
  await connect().opened;
  for (const { client } of followed) client.terminate();
});

test('waits for the first build, and for one that was just requested', async () => {
  api.cluster.change(ENVIRONMENT, at, { metadata: { annotations: { 'coppice.dev/request-build': 'now' } } });
  api.logReader.write(logId(3), line(1));
  api.logReader.end(logId(3));
  const { opened, closed } = connect();
  await opened;
  api.cluster.change(ENVIRONMENT, at, { status: { handledRequests: { build: 'now' }, build: { number: 3 } } });
  expect(await closed).toMatchObject({ code: 1000, messages: [line(1)] });
});

test('closes with a reason when no build starts', async () => {
  api.cluster.change(ENVIRONMENT, at, { status: { activation: { buildPending: true } } });
  expect(await connect().closed).toMatchObject({
    code: 4408,
    reason: 'no build started within 0.3 s. Request one, or reconnect',
  });
});

test.each(['while it waits for a build', 'in the middle of a log'])(
  'closes when the environment is deleted %s',
  async (when) => {
    if (when.includes('waits')) api.cluster.change(ENVIRONMENT, at, { status: { activation: { buildPending: true } } });
    else api.logReader.write(logId(2), line(1));
    const { opened, closed } = connect();
    await opened;
    api.cluster.remove(ENVIRONMENT, at);
    expect(await closed).toMatchObject({ code: 4404, reason: 'the environment was deleted, so its log ends' });
  },
);

test('closes when the build has ended and its log is missing', async () => {
  api.cluster.change(ENVIRONMENT, at, {
    status: { build: { result: 'succeeded', finishedAt: '2026-01-01T00:01:00Z' } },
  });
  expect(await connect().closed).toMatchObject({ code: 4410, messages: [] });
});

test('closes at once when the log of an earlier build is no longer kept', async () => {
  expect(await connect('?build=1').closed).toMatchObject({
    code: 4410,
    reason: 'the log of build 1 is no longer kept',
    messages: [],
  });
});

test('closes with 1011 when the log cannot be read', async () => {
  api.logReader.read = () => {
    throw new Error('redis://secret@redis is gone');
  };
  const { code, reason } = await connect().closed;
  expect(code).toBe(1011);
  expect(reason).not.toContain('secret');
});

test('closes the streams of a login that ends', async () => {
  await restart({ checkMs: 50 });
  api.logReader.write(logId(2), line(1));
  const { opened, closed } = connect();
  await opened;
  await request(server).post('/api/user/logout').set('x-service-token', token).expect(200);
  expect((await closed).code).toBe(4401);
});

test.each([
  ['the repository', { repositories: ['acme.shop'] }, 1000],
  ['another group', { groups: ['tools'] }, 404],
])('checks a token restricted to %s', async (_what, scopes, outcome) => {
  api.addRepository('acme', 'shop');
  api.addGroup('tools', ['alice@example.com']);
  api.logReader.write(logId(2), line(1));
  api.logReader.end(logId(2));
  const body = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', scopes };
  const made = await request(server).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  const { closed, refused } = connect('', { headers: { 'x-service-token': (made.body as { token: string }).token } });
  if (outcome === 404) expect(await refused).toMatchObject({ status: 404 });
  else expect(await closed).toMatchObject({ code: outcome, messages: [line(1)] });
});

test('disconnects a client that does not answer pings, and keeps one that does', async () => {
  await restart({ keepaliveMs: 200 });
  const deaf = connect('', { headers: { 'x-service-token': token }, autoPong: false });
  const alive = connect();
  expect((await deaf.closed).code).toBe(1006);
  expect(alive.client.readyState).toBe(WebSocket.OPEN);
  alive.client.terminate();
});

test('closes connections with 1012 when the server stops', async () => {
  const { opened, closed } = connect();
  await opened;
  await stopServer(server, api.webSockets, 1000);
  expect(await closed).toMatchObject({ code: 1012, reason: expect.stringContaining('?from=') as unknown });
  await start();
});

test.each([
  ['no token', {}, 400],
  ['a wrong token', { 'x-service-token': 'nobody' }, 401],
  ['an environment that cannot be seen', { 'x-service-token': 'MALLORY' }, 404],
  ['a cookie without an origin', { cookie: 'token=TOKEN' }, 403],
  ['a cookie from elsewhere', { cookie: 'token=TOKEN', origin: 'https://evil.example' }, 403],
])('refuses %s over HTTP with a JSON body', async (_name, headers, status) => {
  const { token: mallory } = await api.login('mallory@example.com');
  const sent = JSON.parse(JSON.stringify(headers).replace('TOKEN', token).replace('MALLORY', mallory)) as object;
  const refusal = await connect('', { headers: sent as Record<string, string> }).refused;
  expect(refusal).toEqual({ status, body: { error: expect.any(String) } });
});

test.each([
  ['?build=3', 404],
  ['?build=0', 422],
  ['?from=-1', 422],
])('answers %s with %d', async (query, status) => {
  expect((await connect(query).refused).status).toBe(status);
});

test("accepts a cookie from the API's own page", async () => {
  const { opened, client } = connect('', { headers: { cookie: `token=${token}`, origin: TEST_ORIGIN } });
  await opened;
  client.terminate();
});

test('answers 426 to a broken handshake and to other upgrades', async () => {
  const get = (headers: Record<string, string>) =>
    request(server)
      .get(path)
      .set({ 'x-service-token': token, connection: 'Upgrade', ...headers });
  const broken = await get({ upgrade: 'websocket', 'sec-websocket-key': 'short', 'sec-websocket-version': '13' });
  expect({ status: broken.status, body: broken.body as unknown }).toEqual({
    status: 426,
    body: { error: 'the WebSocket handshake is not valid. Check the client, or the proxy in front of the API' },
  });
  expect(await get({ upgrade: 'h2c' })).toMatchObject({ status: 200, type: 'text/plain' });
  await request(server)
    .post('/api/groups')
    .set({ 'x-service-token': token, connection: 'Upgrade', upgrade: 'websocket' })
    .send({ name: randomBytes(4).toString('hex') })
    .expect(201);
});

test('disconnects clients that do not close when the server stops', async () => {
  const { client, opened, closed } = connect();
  await opened;
  client.pause();
  await stopServer(server, api.webSockets, 50);
  client.resume();
  await closed;
  await start();
});

test('closes the stream of a deleted user', async () => {
  api.cluster.remove(Secret, { namespace: TEST_NAMESPACE, name: userName('alice@example.com') });
  expect((await connect().refused).status).toBe(401);
});

/** Requests a build after build 2 has ended, as the API does. */
function requestBuild() {
  const finished = { ...build, result: 'succeeded', finishedAt: '2026-01-01T00:00:01Z' };
  const annotations = { [requestAnnotation('build')]: '2026-01-01T00:00:02Z/next' };
  api.cluster.change(ENVIRONMENT, at, { metadata: { annotations }, status: { state: 'built', build: finished } });
}

test('follows the build that a request was answered with before it starts', async () => {
  requestBuild();
  const { opened, closed } = connect('?build=3');
  await opened;
  api.cluster.change(ENVIRONMENT, at, { status: { build: { ...build, number: 3 } } });
  api.logReader.write(logId(3), line(1));
  api.logReader.end(logId(3));
  expect(await closed).toEqual({ code: 1000, reason: 'the build has ended', messages: lines(1) });
});

test('closes when a requested build does not start', async () => {
  requestBuild();
  expect(await connect('?build=3').closed).toMatchObject({ code: 4408, messages: [] });
});

test('answers 404 for a build that nobody requested', async () => {
  requestBuild();
  expect(await connect('?build=4').refused).toEqual({
    status: 404,
    body: { error: 'there is no build of this number yet. GET …/builds lists the builds' },
  });
});
