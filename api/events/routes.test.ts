import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import request from 'supertest';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { FakeClock } from '../../kubernetes/testing/fake-clock.ts';
import { startServer, stopServer } from '../http/server.ts';
import { EventReader } from '../testing/event-reader.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_NAMESPACE } from '../testing/test-options.ts';

const main = { namespace: 'group-acme', name: 'shop-main' };

let api: TestApi;
let token: string;
let clock: FakeClock;
let server: Server;
let address: string;
let readers: EventReader[];

beforeEach(async () => {
  clock = new FakeClock(1_000_000);
  api = new TestApi({}, undefined, {}, undefined, undefined, clock);
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com']);
  api.addRepository('acme', 'shop');
  api.addEnvironment('acme', 'shop-main', 'shop', { state: 'empty' });
  readers = [];
  const started = await startServer(api.app, api.webSockets, 0);
  server = started.server;
  address = `http://127.0.0.1:${started.port}`;
});

afterEach(async () => {
  for (const reader of readers) reader.close();
  await stopServer(server, api.webSockets, 100);
});

async function open(as = token, lastEventId?: string): Promise<EventReader> {
  const headers = { 'x-service-token': as, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
  const reader = await EventReader.open(`${address}/api/events`, headers);
  readers.push(reader);
  return reader;
}

/** Opens a stream and reads its first event. */
async function started(as = token): Promise<EventReader> {
  const reader = await open(as);
  expect(await reader.next()).toEqual({ name: 'reset', data: { reason: 'start' } });
  return reader;
}

/** Returns the number of open streams, as the metric reports it. */
async function openStreams(): Promise<number> {
  const { values } = await api.registry.getSingleMetric('coppice_api_event_streams')!.get();
  return values[0]?.value ?? Number.NaN;
}

async function until(isReached: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await isReached()) && attempt < 500; attempt++) await delay(10);
  expect(await isReached()).toBe(true);
}

async function tokenWith(scopes: object): Promise<string> {
  const body = { name: 'scoped', expirationTime: '2026-02-01T00:00:00Z', scopes };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  return (made.body as { token: string }).token;
}

const changed = (state: string) => api.cluster.change(ENVIRONMENT, main, { status: { state } });
const flush = () => clock.advance(200);

describe('changes', () => {
  test('of groups, repositories and environments arrive in the form of lists', async () => {
    const reader = await started();
    changed('created');
    api.cluster.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { displayName: 'The shop' } });
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { displayName: 'Acme' } });
    await flush();
    const events = [await reader.next(), await reader.next(), await reader.next()];
    expect(events.map(({ data }) => data)).toEqual([
      expect.objectContaining({
        ...{ kind: 'environment', id: 'acme.shop-main', change: 'updated' },
        item: expect.objectContaining({ rid: 'acme.shop', status: 'created', health: 'inactive' }) as unknown,
      }),
      expect.objectContaining({ kind: 'repository', item: expect.objectContaining({ name: 'The shop' }) as unknown }),
      expect.objectContaining({ kind: 'group', item: expect.objectContaining({ name: 'Acme' }) as unknown }),
    ]);
  });

  test('of one object arrive once, with the newest state', async () => {
    const reader = await started();
    for (const state of ['created', 'building', 'built']) changed(state);
    await flush();
    changed('empty');
    await flush();
    const states = [await reader.next(), await reader.next()].map(
      ({ data }) => (data['item'] as { status: string }).status,
    );
    expect(states).toEqual(['built', 'empty']);
    expect(reader.events).toHaveLength(3);
  });

  test('report a deletion without the object', async () => {
    const reader = await started();
    api.cluster.remove(ENVIRONMENT, main);
    await flush();
    expect(await reader.next()).toEqual({
      name: 'change',
      data: { kind: 'environment', id: 'acme.shop-main', change: 'deleted' },
    });
  });

  test('of another group do not arrive', async () => {
    const { token: other } = await api.login('mallory@example.com');
    api.addGroup('rival', ['mallory@example.com']);
    const reader = await started(other);
    changed('created');
    await flush();
    api.cluster.change(GROUP, { name: 'rival' }, { spec: { displayName: 'Rival' } });
    await flush();
    expect((await reader.next()).data).toMatchObject({ kind: 'group', id: 'rival' });
    expect(JSON.stringify(reader.events)).not.toContain('acme');
  });

  test('contain no text that ends a field or an event', async () => {
    const reader = await started();
    const hostile = 'a\n\nevent: reset\ndata: {}\r\u2028</script>\u202e';
    api.cluster.change(ENVIRONMENT, main, { spec: { displayName: hostile } });
    await flush();
    expect((await reader.next()).data).toMatchObject({ item: { name: hostile } });
    expect(reader.events).toHaveLength(2);
  });

  test('contain no values of variables', async () => {
    const reader = await started();
    const variables = [{ name: 'KEY', value: 'hunter2secret', visibility: 'always', secret: true }];
    api.cluster.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { variables } });
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { variables } });
    await flush();
    await reader.next();
    await reader.next();
    expect(JSON.stringify(reader.events)).not.toMatch(/hunter2secret|KEY/);
  });
});

describe('a token restricted to', () => {
  test('a repository receives that one and its environments', async () => {
    api.addRepository('acme', 'other');
    const reader = await started(await tokenWith({ repositories: ['acme.other'], access: 'read' }));
    changed('created');
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { displayName: 'Acme' } });
    api.addEnvironment('acme', 'other-main', 'other');
    await flush();
    expect((await reader.next()).data).toMatchObject({ kind: 'environment', id: 'acme.other-main' });
    expect(reader.events).toHaveLength(2);
  });

  test('another group receives nothing', async () => {
    api.addGroup('tools', ['alice@example.com']);
    const reader = await started(await tokenWith({ groups: ['tools'] }));
    changed('created');
    api.cluster.change(GROUP, { name: 'tools' }, { spec: { displayName: 'Tools' } });
    await flush();
    expect((await reader.next()).data).toMatchObject({ kind: 'group', id: 'tools' });
    expect(reader.events).toHaveLength(2);
  });
});

describe('a client that reconnects', () => {
  test('receives only what it missed', async () => {
    const reader = await started();
    api.addEnvironment('acme', 'shop-old', 'shop');
    await flush();
    await reader.next();
    reader.close();
    changed('created');
    api.cluster.remove(ENVIRONMENT, { namespace: 'group-acme', name: 'shop-old' });
    const again = await open(token, reader.lastId);
    const events = [await again.next(), await again.next(), await again.next()];
    expect(events.map(({ name, data }) => [name, data['id'], data['change']])).toEqual([
      ['change', 'acme.shop-main', 'updated'],
      ['change', 'acme.shop-old', 'deleted'],
      ['ready', undefined, undefined],
    ]);
  });

  test('continues with ?lastEventId=', async () => {
    const reader = await started();
    const again = await EventReader.open(`${address}/api/events?lastEventId=${reader.lastId}`, {
      'x-service-token': token,
    });
    readers.push(again);
    expect(await again.next()).toEqual({ name: 'ready', data: {} });
  });

  test('loads the lists if this replica does not know what was missed', async () => {
    await started();
    const again = await open(token, '0-0-0.0-0-0');
    expect(await again.next()).toEqual({ name: 'reset', data: { reason: 'gap' } });
  });

  test('loads the lists if the membership has changed meanwhile', async () => {
    const reader = await started();
    reader.close();
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: ['bob@example.com'] } });
    const again = await open(token, reader.lastId);
    expect(await again.next()).toEqual({ name: 'reset', data: { reason: 'membership' } });
  });
});

describe('the end of access', () => {
  test('stops the changes at once when a membership ends', async () => {
    const reader = await started();
    changed('created');
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: ['bob@example.com'] } });
    changed('built');
    await flush();
    expect(await reader.next()).toEqual({ name: 'reset', data: { reason: 'membership' } });
    changed('empty');
    await flush();
    expect(reader.events).toHaveLength(2);
  });

  test('does not apply to a new member, who loads the lists', async () => {
    const { token: bob } = await api.login('bob@example.com');
    const reader = await started(bob);
    api.cluster.change(GROUP, { name: 'acme' }, { spec: { members: ['alice@example.com', 'bob@example.com'] } });
    expect(await reader.next()).toEqual({ name: 'reset', data: { reason: 'membership' } });
    changed('created');
    await flush();
    expect((await reader.next()).data).toMatchObject({ kind: 'group' });
    expect((await reader.next()).data).toMatchObject({ id: 'acme.shop-main' });
  });

  test('does not prevent a new group from arriving as a change', async () => {
    const reader = await started();
    api.addGroup('new', ['alice@example.com']);
    await flush();
    expect((await reader.next()).data).toMatchObject({ kind: 'group', id: 'new', change: 'updated' });
  });

  test('is announced for a deleted group as a change', async () => {
    const reader = await started();
    api.cluster.remove(GROUP, { name: 'acme' });
    expect((await reader.next()).data).toEqual({ kind: 'group', id: 'acme', change: 'deleted' });
  });

  test('after a logout ends the stream at the next heartbeat', async () => {
    const reader = await started();
    await request(api.app).post('/api/user/logout').set('x-service-token', token).expect(200);
    await clock.advance(15_000);
    expect(await reader.next()).toEqual({ name: 'close', data: { reason: 'unauthorized' } });
    await reader.ended();
  });

  test('after the deletion of an API token ends only its stream, at once', async () => {
    const scoped = await tokenWith({ access: 'read' });
    const [mine, ofToken] = [await started(), await started(scoped)];
    const headers = { 'x-service-token': token };
    await request(api.app).delete('/api/user/tokens').set(headers).send({ name: 'scoped' }).expect(200);
    expect(await ofToken.next()).toEqual({ name: 'close', data: { reason: 'unauthorized' } });
    changed('created');
    await flush();
    expect((await mine.next()).name).toBe('change');
  });

  test('after the deletion of an account ends its streams at once', async () => {
    const { user, token: bob } = await api.login('bob@example.com');
    const reader = await started(bob);
    api.cluster.remove(Secret, { namespace: TEST_NAMESPACE, name: user.name });
    expect(await reader.next()).toEqual({ name: 'close', data: { reason: 'unauthorized' } });
  });
});

describe('limits', () => {
  test('permit 20 streams per account', async () => {
    for (let index = 0; index < 20; index++) await started();
    const refused = await open();
    expect(refused.status).toBe(429);
    readers[0]?.close();
    await until(async () => (await openStreams()) === 19);
    await started();
  });

  test('replace many changes of a group by one reset', async () => {
    const reader = await started();
    for (let index = 0; index < 201; index++) api.addEnvironment('acme', `shop-${index}`, 'shop');
    await flush();
    expect(await reader.next()).toEqual({ name: 'reset', data: { reason: 'many' } });
    for (let index = 0; index < 201; index++) api.addEnvironment('acme', `shop-more-${index}`, 'shop');
    await flush();
    await clock.advance(3000);
    expect(reader.events).toHaveLength(2);
    await clock.advance(3000);
    expect(await reader.next()).toEqual({ name: 'reset', data: { reason: 'many' } });
    changed('created');
    await flush();
    expect((await reader.next()).data).toMatchObject({ id: 'acme.shop-main' });
  });

  test('let a client reconnect after 256 KiB without losses', async () => {
    const reader = await started();
    const displayName = 'n'.repeat(4000);
    let sent = 0;
    while (!reader.events.some(({ name }) => name === 'close') && sent < 100) {
      api.cluster.change(ENVIRONMENT, main, { spec: { displayName: `${displayName}${sent++}` } });
      await flush();
    }
    expect(reader.events.at(-1)).toEqual({ name: 'close', data: { reason: 'rotate' } });
    await reader.ended();
    changed('built');
    const again = await open(token, reader.lastId);
    expect((await again.next()).data).toMatchObject({ item: { status: 'built' } });
    expect(await again.next()).toEqual({ name: 'ready', data: {} });
  });

  test('a client that reads nothing is sent at most 256 KiB and a batch', async () => {
    const reader = await started();
    reader.pause();
    for (let index = 0; index < 100; index++) {
      api.cluster.change(ENVIRONMENT, main, { spec: { displayName: `${'n'.repeat(4000)}${index}` } });
      await flush();
    }
    reader.resume();
    await reader.ended();
    expect(reader.events.at(-1)).toEqual({ name: 'close', data: { reason: 'rotate' } });
    const bytes = JSON.stringify(reader.events).length;
    expect(bytes).toBeGreaterThan(200 * 1024);
    expect(bytes).toBeLessThan(270 * 1024);
  });
});

test('a stream is counted when it closes, and not timed', async () => {
  const reader = await started();
  reader.close();
  const metric = (name: string) => api.registry.getSingleMetricAsString(`coppice_api_${name}`);
  await until(async () => (await metric('requests_total')).includes('route="/api/events"'));
  expect(await metric('request_duration_seconds')).not.toContain('/api/events');
});

test('advances the position with a heartbeat', async () => {
  const reader = await started();
  const before = reader.lastId;
  api.addGroup('rival', ['mallory@example.com']);
  await clock.advance(15_000);
  await until(async () => reader.lastId !== before);
  expect(reader.events).toHaveLength(1);
});

test('ends the streams when the server stops', async () => {
  const reader = await started();
  const stopped = stopServer(server, api.webSockets, 5000);
  expect(await reader.next()).toEqual({ name: 'close', data: { reason: 'restart' } });
  await stopped;
});

test.each([
  ['no token', {}, 400],
  ['an invalid token', { 'x-service-token': 'none' }, 401],
])('refuses %s', async (_what, headers: Record<string, string>, status) => {
  const reader = await EventReader.open(`${address}/api/events`, headers);
  expect(reader.status).toBe(status);
});

test('refuses a position that the API did not issue', async () => {
  await request(api.app).get('/api/events?lastEventId=nonsense').set('x-service-token', token).expect(422);
});

test('opens no stream for HEAD', async () => {
  await request(api.app).head('/api/events').set('x-service-token', token).expect(200);
});
