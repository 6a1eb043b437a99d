import { once } from 'node:events';
import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { WebSocket } from 'ws';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { CHANNEL, dataFrame, MAX_FRAME_BYTES, WINDOW, type ServerMessage } from '../../shell-protocol/frames.ts';
import { startServer, stopServer } from '../http/server.ts';
import { startShellApi, type PodConnection, type ShellApi } from '../testing/shell-api.ts';
import type { TestApi } from '../testing/test-api.ts';
import { TEST_ORIGIN } from '../testing/test-options.ts';

const services = '/api/environment/acme.shop-main/services';
const path = `${services}/web/exec`;
const at = { namespace: 'group-acme', name: 'shop-main' };

let pods: ShellApi['server'];
let api: TestApi;
let token: string;
let server: Server;
let port: number;
let listed: ShellApi['pods'];

async function start(...options: Parameters<typeof startShellApi>): Promise<void> {
  ({ api, server: pods, pods: listed, token } = await startShellApi(...options));
  ({ server, port } = await startServer(api.app, api.webSockets, 0));
}

beforeEach(() => start());
afterEach(stop);

async function stop(): Promise<void> {
  await stopServer(server, api.webSockets, 100);
  await pods.stop();
}

/** A client of a session, which collects what it receives. */
class Client {
  readonly socket: WebSocket;
  readonly messages: ServerMessage[] = [];
  readonly data: Buffer[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  /** The status and error of a refusal. */
  readonly refused: Promise<[number | undefined, string]>;

  constructor(of = path, headers: Record<string, string> = { 'x-service-token': token }) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${of}`, { headers });
    this.socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.data.push(data);
      else this.messages.push(JSON.parse(data.toString()) as ServerMessage);
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.refused = new Promise((resolve) => {
      this.socket.on('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => resolve([response.statusCode, (JSON.parse(body) as { error: string }).error]));
      });
    });
    this.socket.on('error', () => undefined);
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  input(text: string | Buffer): void {
    this.socket.send(dataFrame(CHANNEL.input, Buffer.from(text)));
  }

  get text(): string {
    return Buffer.concat(this.data.map((frame) => frame.subarray(1))).toString();
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 4000) throw new Error('the condition did not become true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Starts a session, and returns both ends, and the frames that the pod receives. */
async function session(startMessage: object = { input: true }) {
  let frames: Buffer[] = [];
  const connected = new Promise<PodConnection>((resolve) => {
    pods.onConnect = (connection) => {
      frames = received(connection);
      resolve(connection);
    };
  });
  const client = new Client();
  await once(client.socket, 'open');
  client.send({ start: startMessage });
  const pod = await connected;
  await until(() => client.messages.length > 0);
  return { client, pod, frames };
}

const status = (body: object) => Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify(body))]);
const received = (pod: PodConnection): Buffer[] => {
  const frames: Buffer[] = [];
  pod.socket.on('message', (frame: Buffer) => frames.push(frame));
  return frames;
};
const change = (patch: object) => api.cluster.change(ENVIRONMENT, at, patch);

describe('a command', () => {
  test('has input, output and errors byte for byte, and returns its exit code', async () => {
    const { client, pod, frames } = await session({ input: true, command: ['cat'] });
    expect(client.messages).toEqual([{ started: { pod: 'web-1', container: 'web' } }]);
    expect(pod.url.searchParams.getAll('command')).toEqual(['cat']);
    expect(pod.url.searchParams.get('tty')).toBe('false');
    const bytes = Buffer.from([0, 255, 10, 13, 0, 128]);
    client.input(bytes);
    client.send({ inputEnd: true });
    await until(() => frames.length === 2);
    expect(frames).toEqual([Buffer.concat([Buffer.from([0]), bytes]), Buffer.from([255, 0])]);
    pod.socket.send(Buffer.concat([Buffer.from([1]), bytes]));
    pod.socket.send(Buffer.from([2, 7]));
    pod.socket.send(status({ status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: '3' }] } }));
    await until(() => client.messages.length === 2);
    expect(client.data).toEqual([Buffer.concat([Buffer.from([1]), bytes]), Buffer.from([2, 7])]);
    expect(client.messages[1]).toEqual({ exit: { code: 3 } });
    client.socket.close();
    await client.closed;
  });

  test('is a shell by default, at a terminal whose size can change', async () => {
    const { client, pod, frames } = await session({ input: true, terminal: { columns: 80, rows: 24 } });
    expect(pod.url.searchParams.getAll('command').slice(0, 2)).toEqual(['sh', '-c']);
    expect(pod.url.searchParams.get('tty')).toBe('true');
    client.send({ resize: { columns: 100, rows: 30 } });
    await until(() => frames.length === 2);
    expect(frames.map(String)).toEqual(['\u0004{"Width":80,"Height":24}', '\u0004{"Width":100,"Height":30}']);
  });

  test('that cannot be run is reported', async () => {
    pods.refusal = { status: 500, body: { code: 500, message: 'container not found' } };
    const client = new Client();
    await once(client.socket, 'open');
    client.send({ start: { input: true } });
    await until(() => client.messages.length > 0);
    expect(client.messages).toEqual([{ failed: { message: 'container not found' } }]);
  });

  test('ends with its pod', async () => {
    const { client, pod } = await session();
    pod.socket.terminate();
    await until(() => client.messages.length === 2);
    expect(client.messages[1]).toEqual({ failed: { message: expect.stringContaining('pod may have been deleted') } });
  });

  test('ends when the client disconnects', async () => {
    const { client, pod } = await session();
    const closed = once(pod.socket, 'close');
    client.socket.terminate();
    await closed;
  });
});

test('forwards a connection', async () => {
  const connected = new Promise<PodConnection>((resolve) => (pods.onConnect = resolve));
  const client = new Client(`${services}/web/port-forward?port=5432`);
  const pod = await connected;
  await until(() => client.messages.length > 0);
  const frames = received(pod);
  pod.socket.send(Buffer.from([0, 0x38, 0x15]));
  pod.socket.send(Buffer.from([0, 104, 105]));
  client.input('ping');
  await until(() => client.data.length > 0 && frames.length > 0);
  expect([client.text, frames]).toEqual(['hi', [Buffer.from('\u0000ping')]]);
  pod.socket.close();
  await until(() => client.messages.length === 2);
  expect(client.messages[1]).toEqual({ end: true });
});

describe('is refused', () => {
  test.each<[string, () => void, number, string]>([
    ['an unknown service', () => change({ status: { services: [] } }), 404, 'no such service'],
    ['a service without a pod', () => listed.splice(0), 409, 'no pod of the service web runs now'],
    [
      'an environment that sleeps',
      () =>
        change({ status: { state: 'built', sleep: { asleep: true, since: '2026-01-01T00:00:00Z', reason: 'Idle' } } }),
      409,
      'is asleep',
    ],
    ['an environment without contents', () => change({ status: { state: 'empty' } }), 409, 'has no contents'],
    [
      'a pull request that may come from a fork',
      () => change({ spec: { gitRef: { type: 'pull request', name: '7' } } }),
      403,
      'comes from a fork',
    ],
  ])('%s', async (_what, prepare, wanted, error) => {
    prepare();
    const [code, text] = await new Client().refused;
    expect([code, text]).toEqual([wanted, expect.stringContaining(error)]);
  });

  test('everybody while shells are turned off', async () => {
    await stop();
    await start({ isEnabled: false });
    expect(await new Client().refused).toEqual([403, expect.stringContaining('turned off')]);
  });

  test('another account, as if there was no such environment', async () => {
    const { token: stranger } = await api.login('mallory@example.com');
    expect((await new Client(path, { 'x-service-token': stranger }).refused)[0]).toBe(404);
  });

  test.each([{ access: 'read' }, { access: 'operate' }])('a token of %j', async (scopes) => {
    const made = await request(api.app)
      .post('/api/user/tokens')
      .set('x-service-token', token)
      .send({ name: 'ci', expirationTime: new Date(api.now + 3600_000).toISOString(), scopes })
      .expect(201);
    const limited = (made.body as { token: string }).token;
    expect((await new Client(path, { 'x-service-token': limited }).refused)[0]).toBe(403);
  });

  test('a page of another site, and a page without a login', async () => {
    expect((await new Client(path, { cookie: `token=${token}`, origin: 'http://evil.example' }).refused)[0]).toBe(403);
    expect((await new Client(path, { origin: TEST_ORIGIN }).refused)[0]).toBe(400);
    const own = new Client(path, { cookie: `token=${token}`, origin: TEST_ORIGIN });
    await once(own.socket, 'open');
  });

  test('a plain request, after everything else has been checked', async () => {
    await request(api.app).get(path).set('x-service-token', token).expect(426);
  });

  test('the 25th session of an account, and the 49th of a group', async () => {
    const opened = async (by: string) => {
      const client = new Client(path, { 'x-service-token': by });
      // A session without a first message would end after ten seconds, which a busy machine needs for all of these.
      client.socket.once('open', () => client.send({ start: { input: true } }));
      return Promise.race([once(client.socket, 'open').then(() => undefined), client.refused]);
    };
    const { token: carol } = await api.login('carol@example.com');
    for (let count = 0; count < 24; count++) expect(await opened(token)).toBeUndefined();
    expect(await opened(token)).toEqual([429, expect.stringContaining('the limit of one account')]);
    api.cluster.change(
      GROUP,
      { name: 'acme' },
      { spec: { members: ['alice@example.com', 'carol@example.com', 'dan@example.com'] } },
    );
    for (let count = 0; count < 24; count++) expect(await opened(carol)).toBeUndefined();
    const { token: dan } = await api.login('dan@example.com');
    expect(await opened(dan)).toEqual([429, expect.stringContaining('the limit of one group')]);
  });
});

describe('keeps the environment awake', () => {
  const watched = {
    asleep: false,
    since: '2026-01-01T00:00:00Z',
    reason: 'Build',
    watchedSince: '2026-01-01T01:00:00Z',
  };
  const deployed = { number: 1, result: 'succeeded', startedAt: '2026-01-01T00:00:00Z' };
  const wakes = () => api.cluster.patches.filter(({ patch }) => JSON.stringify(patch).includes('request-wake')).length;

  test('when its visitors are watched for, once', async () => {
    await session();
    expect(wakes()).toBe(0);
    change({ status: { state: 'built', deployed, sleep: watched } });
    await until(() => wakes() === 1);
    change({ spec: { displayName: 'renamed' } });
    expect(wakes()).toBe(1);
  });

  test('not without a session', () => {
    change({ status: { state: 'built', deployed, sleep: watched } });
    expect(wakes()).toBe(0);
  });
});

describe('is closed', () => {
  test.each<[string, number, () => unknown]>([
    ['the member leaves the group', 4401, () => api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: [] } })],
    ['the contents are deleted', 4404, () => change({ status: { state: 'empty' } })],
    ['the contents are created again', 4404, () => change({ status: { namespaceUID: 'ns-2' } })],
    ['the login ends', 4401, () => request(api.app).post('/api/user/logout').set('x-service-token', token).expect(200)],
  ])('when %s', async (_what, code, act) => {
    const { client, pod } = await session();
    const podClosed = once(pod.socket, 'close');
    await act();
    expect((await client.closed).code).toBe(code);
    await podClosed;
  });

  test.each([
    ['shell', undefined],
    ['forwarded port', `${services}/web/port-forward?port=5432`],
  ])('when the member has left the group while the pod of the %s was looked for', async (_what, path) => {
    await stop();
    await start({}, () => api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: [] } }));
    expect((await new Client(path).closed).code).toBe(4401);
    expect(pods.connections).toEqual([]);
  });

  test('when its API token is deleted', async () => {
    const send = (method: 'post' | 'delete', body: object) =>
      request(api.app)[method]('/api/user/tokens').set('x-service-token', token).send(body);
    const made = await send('post', { name: 'ci', expirationTime: new Date(api.now + 3600_000).toISOString() }).expect(
      201,
    );
    const loginToken = token;
    token = (made.body as { token: string }).token;
    const { client } = await session();
    token = loginToken;
    await send('delete', { name: 'ci' });
    expect((await client.closed).code).toBe(4401);
  });

  test('when the code is no longer trusted', async () => {
    const trusted = (value: string) => ({
      spec: { gitRef: { type: 'pull request', name: '7' } },
      status: { conditions: [{ type: 'Trusted', status: value, reason: 'x', message: '', lastTransitionTime: '' }] },
    });
    change(trusted('True'));
    const { client } = await session();
    change(trusted('False'));
    expect(await client.closed).toEqual({ code: 4401, reason: 'the code of the environment is no longer trusted' });
  });

  test('after a time without data', async () => {
    await stop();
    await start({ idleMs: 1000 });
    const { client } = await session();
    expect((await client.closed).code).toBe(4408);
  });

  test('with a message when the API stops', async () => {
    const { client } = await session();
    api.webSockets.close();
    expect(await client.closed).toEqual({ code: 1012, reason: expect.stringContaining('Start it again') });
  });

  test.each<[string, (client: Client) => void]>([
    ['data before the start', (client) => client.input('x')],
    ['another message first', (client) => client.send({ exit: { code: 1 } })],
  ])('on %s', async (_what, act) => {
    const client = new Client();
    await once(client.socket, 'open');
    act(client);
    expect((await client.closed).code).toBe(1008);
    expect(pods.connections).toEqual([]);
  });

  test.each<[string, (client: Client) => void]>([
    ['output of the client', (client) => client.socket.send(Buffer.from([1, 65]))],
    ['a confirmation of what was not sent', (client) => client.send({ confirmed: 100_000 })],
    [
      'a flood of messages',
      (client) => {
        // They are counted per second of this clock. On a slow machine, a second could end among them.
        const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
        client.socket.once('close', () => clock.mockRestore());
        for (let count = 0; count < 60; count++) client.send({ resize: { columns: 80, rows: 24 } });
      },
    ],
    ['a frame that is too large', (client) => client.input(Buffer.alloc(40_000))],
  ])('on %s', async (_what, act) => {
    const { client } = await session();
    act(client);
    expect((await client.closed).code).toBe(1008);
  });
});

describe('flow control', () => {
  test('stops the pod while the client confirms nothing, and loses no byte', async () => {
    const { client, pod } = await session();
    const frame = Buffer.alloc(MAX_FRAME_BYTES, 1);
    const total = 500;
    for (let count = 0; count < total; count++) pod.socket.send(frame);
    await until(() => client.data.length * MAX_FRAME_BYTES >= WINDOW);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(client.data.length * MAX_FRAME_BYTES).toBeLessThan(WINDOW + 128 * 1024);
    let confirmed = 0;
    while (client.data.length < total) {
      expect(client.socket.readyState).toBe(WebSocket.OPEN);
      const now = client.data.length;
      if (now - confirmed >= 4) {
        client.send({ confirmed: (now - confirmed) * MAX_FRAME_BYTES });
        confirmed = now;
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(client.data.every((one) => one.equals(frame))).toBe(true);
  });

  test('closes the session of a client that does not wait for confirmations', async () => {
    const { client, pod } = await session();
    pod.socket.pause();
    const block = Buffer.alloc(MAX_FRAME_BYTES - 1);
    // The kernel takes some of it, which is confirmed.
    for (let count = 0; count < 2000; count++) client.input(block);
    expect((await client.closed).reason).toBe('more data was sent than was confirmed');
  });

  test('confirms input that the pod has taken', async () => {
    const { client, frames } = await session();
    const block = Buffer.alloc(MAX_FRAME_BYTES - 1);
    for (let count = 0; count < 4; count++) client.input(block);
    await until(() => frames.length === 4);
    await until(() => client.messages.length === 3);
    expect(client.messages.slice(1)).toEqual([{ confirmed: 2 * MAX_FRAME_BYTES }, { confirmed: 2 * MAX_FRAME_BYTES }]);
  });
});

test('audits who connected where, and how much was transferred, but not what', async () => {
  const { client, pod } = await session({ input: true, command: ['echo', 'word-of-the-command'] });
  client.input('typed-word');
  pod.socket.send(Buffer.from('\u0001shown-word'));
  await until(() => client.data.length > 0);
  pod.socket.send(status({ status: 'Success' }));
  await until(() => client.messages.length === 2);
  client.socket.close();
  await until(() => api.audited.length === 2);
  const where = { verb: 'exec', namespace: expect.stringContaining('env-shop-main'), pod: 'web-1', container: 'web' };
  expect(api.audited.map(({ email, endpoint, status: code, session: of }) => ({ email, endpoint, code, of }))).toEqual(
    [
      { event: 'start', ...where },
      { event: 'end', ...where, seconds: expect.any(Number), input: 10, output: 10, reason: 'exit code 0' },
    ].map((of) => ({
      email: 'alice@example.com',
      endpoint: '/api/environment/{environmentID}/services/{serviceID}/exec',
      code: 101,
      of,
    })),
  );
  expect(JSON.stringify(api.audited)).not.toMatch(/-word/);
});

test('audits who was refused', async () => {
  listed.splice(0);
  await new Client().refused;
  await until(() => api.audited.length === 1);
  expect(api.audited[0]).toMatchObject({ email: 'alice@example.com', status: 409, outcome: 'refused', changes: [] });
});
