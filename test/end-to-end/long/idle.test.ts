import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { localhostLookup, send } from '../../client/local-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { sleepyShop } from '../sleepy-shop.ts';

let harness: Harness;
let id: string;
let weburl: string;

beforeAll(async () => {
  harness = await startHarness('idle');
  const repository = await harness.addRepository('shop', await harness.push('shop', 'main', sleepyShop('Shop')));
  id = await harness.spawn(repository, 'main');
  ({ weburl } = await harness.built(id));
}, 400_000);

afterAll(() => harness.remove(), 60_000);

const set = (sleep: object) => harness.client.send('POST', `/api/environment/${id}/settings`, { sleep });

test('an environment without visits sleeps, but not while somebody is connected', async () => {
  expect((await set({ afterSeconds: 8 })).status).toBe(200);
  // The pods are replaced by ones whose connections are listed; a connection to a former one would end with it.
  await waitFor('the former pod to be gone', 120, async () => {
    const selection = ['--namespace', namespaceOf(id), '--selector=coppice.dev/service=web'];
    const names = '--output=jsonpath={range .items[*]}{.spec.containers[*].name}{"\\n"}{end}';
    const pods = (await harness.kubectl(['get', 'pods', ...selection, names])).trim().split('\n');
    return pods.length === 1 && pods[0] === 'web coppice-connections' ? true : undefined;
  });
  await pageWith(weburl, 'Shop', 60);
  const stream = openStream(`${weburl}cgi-bin/stream`);
  await waitFor('the stream to start', 20, () => Promise.resolve(stream.received() > 0 ? true : undefined));
  await delay(30_000);
  expect(stream.isOpen()).toBe(true);
  expect(conditionOf(await harness.client.environment(id), 'Asleep')?.status).not.toBe('True');
  stream.end();
  // Idle connections of the Ingress controller to the pod end after 90 s.
  await harness.client.waitForEnvironment(id, (one) => conditionOf(one, 'Asleep')?.reason === 'Idle', 180);
  expect((await set({ afterSeconds: null })).status).toBe(200);
  expect((await send(`${weburl}cgi-bin/runs`, { timeoutMs: 60_000 })).text.trim()).toBe('1');
}, 400_000);

/** Opens a session at the service that visitors do not reach; `start` is the first message. */
async function openSession(verb: string, start?: object): Promise<WebSocket> {
  const url = new URL(`/api/environment/${id}/services/back/${verb}`, harness.connection.apiUrl);
  url.protocol = 'ws:';
  const socket = new WebSocket(url, {
    headers: { 'x-service-token': harness.client.token },
    lookup: localhostLookup,
  });
  const started = once(socket, 'message');
  await once(socket, 'open');
  if (start) socket.send(JSON.stringify({ start }));
  expect(String((await started)[0])).toContain('started');
  return socket;
}

test.each<[string, () => Promise<WebSocket>]>([
  ['a shell', () => openSession('exec', { command: ['sleep', '300'], input: false })],
  ['a forwarded port', () => openSession('port-forward?port=8080')],
])(
  'an environment does not fall asleep while %s is open',
  async (_what, open) => {
    expect((await set({ afterSeconds: null })).status).toBe(200);
    expect((await harness.client.send('POST', `/api/environment/${id}/wake`)).status).toBe(202);
    await harness.client.waitForEnvironment(id, (one) => conditionOf(one, 'Ready')?.reason === 'Built', 60);
    const session = await open();
    expect((await set({ afterSeconds: 8 })).status).toBe(200);
    await delay(30_000);
    expect(session.readyState).toBe(WebSocket.OPEN);
    expect(conditionOf(await harness.client.environment(id), 'Asleep')?.status).not.toBe('True');
    session.close();
    await harness.client.waitForEnvironment(id, (one) => conditionOf(one, 'Asleep')?.reason === 'Idle', 180);
  },
  300_000,
);

/** Reads an answer that never ends. */
function openStream(url: string) {
  let bytes = 0;
  let isOpen = true;
  const sent = request(url, { lookup: localhostLookup }, (response) => {
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    response.on('error', () => (isOpen = false));
    response.on('close', () => (isOpen = false));
  });
  sent.on('error', () => (isOpen = false));
  sent.end();
  return { received: () => bytes, isOpen: () => isOpen, end: () => sent.destroy() };
}
