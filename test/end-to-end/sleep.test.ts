import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';
import { sleepyShop } from './sleepy-shop.ts';

const browser = {
  accept: 'text/html,application/xhtml+xml',
  'sec-fetch-mode': 'navigate',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
};

let harness: Harness;
let repository: string;
let id: string;
let weburl: string;

beforeAll(async () => {
  harness = await startHarness('sleep');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main', sleepyShop('Shop')));
  id = await harness.spawn(repository, 'main');
  ({ weburl } = await harness.built(id));
  await pageWith(weburl, 'Shop');
}, 400_000);

afterAll(() => harness.remove(), 60_000);

const objectsSchema = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string() }), spec: z.looseObject({}).optional() })),
});

async function names(kind: string): Promise<string[]> {
  const text = await harness.kubectl(['get', kind, '--namespace', namespaceOf(id), '--output=json']);
  return objectsSchema.parse(JSON.parse(text)).items.map(({ metadata }) => metadata.name);
}
const wakerSlices = async () => (await names('endpointslices')).filter((name) => name.startsWith('waker-'));
const post = (action: string) => harness.client.send('POST', `/api/environment/${id}/${action}`);

async function asleep(): Promise<void> {
  await harness.client.waitForEnvironment(id, (one) => conditionOf(one, 'Asleep')?.status === 'True', 60);
  await waitFor('the pods to end', 60, async () => {
    const pods = await harness.kubectl(['get', 'pods', '--namespace', namespaceOf(id), '--output=name']);
    const running = await harness.kubectl([
      'get',
      'pods',
      '--namespace',
      namespaceOf(id),
      '--output=name',
      '--field-selector=status.phase=Running',
    ]);
    return running.trim() === '' ? pods : undefined;
  });
}

async function sleeps(): Promise<void> {
  expect((await post('sleep')).status).toBe(202);
  await asleep();
}

const runs = async () => (await send(`${weburl}cgi-bin/runs`)).text.trim();

describe('an environment that sleeps', () => {
  test('keeps its state, address and volumes, and has no pods', async () => {
    await sleeps();
    const environment = await harness.client.environment(id);
    expect([environment.status, environment.weburl]).toEqual(['built', weburl]);
    expect(conditionOf(environment, 'Ready')).toMatchObject({ status: 'True', reason: 'Asleep' });
    expect(environment).toMatchObject({ asleep: true, health: 'inactive' });
    expect(await names('persistentvolumeclaims')).toHaveLength(1);
    expect(await names('ingresses')).toEqual(['web']);
    const columns = await harness.kubectl(['get', 'cenv', '--namespace', `group-${harness.group}`]);
    expect(columns).toMatch(/ASLEEP/);
    expect(columns).toMatch(/built.*True\s+True/);
  }, 90_000);

  test('is woken by nothing that nobody waits for', async () => {
    const unanswered = [
      send(weburl, { method: 'HEAD' }),
      send(`${weburl}robots.txt`),
      send(`${weburl}favicon.ico`),
      send(weburl, {
        headers: { ...browser, 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
      }),
      send(weburl, { headers: { 'user-agent': 'kube-probe/1.34' } }),
      send(weburl, { headers: browser }),
      send(`${weburl}.well-known/coppice/wake`, { method: 'POST', headers: { 'x-coppice-proof': '1.x' } }),
    ];
    const statuses = (await Promise.all(unanswered)).map(({ status }) => status);
    expect(statuses).toEqual([503, 200, 503, 503, 503, 503, 403]);
    expect(conditionOf(await harness.client.environment(id), 'Asleep')?.status).toBe('True');
  }, 60_000);

  test('is woken by a client, whose request is held with its body, without running jobs again', async () => {
    const body = 'x'.repeat(200_000);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(`${weburl}cgi-bin/echo`, { method: 'POST', body, timeoutMs: 60_000 })),
    );
    expect(answers.map(({ status, text }) => [status, text.length])).toEqual(answers.map(() => [200, body.length]));
    expect(await runs()).toBe('1');
    const environment = await harness.built(id);
    expect(conditionOf(environment, 'Asleep')).toMatchObject({ status: 'False', reason: 'Visited' });
    await waitFor('the waker to be out of the way', 30, async () =>
      (await wakerSlices()).length === 0 ? true : undefined,
    );
    await pageWith(weburl, 'Shop');
  }, 120_000);

  test('is woken by the script of its page, which another host does not accept', async () => {
    await sleeps();
    const { text } = await send(weburl, { headers: browser });
    expect(text).toContain(id);
    const proof = /"x-coppice-proof": "([^"]+)"/.exec(text)?.[1] ?? '';
    const wake = `${weburl}.well-known/coppice/wake`;
    expect((await send(wake, { method: 'POST', headers: { 'x-coppice-proof': proof } })).status).toBe(202);
    await pageWith(weburl, 'Shop', 60);
  }, 120_000);

  test('builds a new commit, and starts it when it wakes', async () => {
    await sleeps();
    await harness.push('shop', 'main', sleepyShop('Newer'));
    await harness.sync(repository);
    await harness.client.waitForEnvironment(
      id,
      ({ status, conditions }) =>
        status === 'built' && conditions?.some(({ message }) => message.startsWith('build 2:')) === true,
      200,
    );
    expect(conditionOf(await harness.client.environment(id), 'Asleep')?.status).toBe('True');
    expect((await post('wake')).status).toBe(202);
    await pageWith(weburl, 'Newer', 60);
    expect(await runs()).toBe('2');
  }, 300_000);
});

describe('strangers', () => {
  test('cannot put it to sleep, nor wake it', async () => {
    const stranger = await harness.newUser();
    for (const action of ['sleep', 'wake', 'settings']) {
      expect((await stranger.send('POST', `/api/environment/${id}/${action}`, { sleep: {} })).status).toBe(404);
    }
    const token = await harness.client.send('POST', '/api/user/tokens', {
      name: 'reader',
      expirationTime: new Date(Date.now() + 3600_000).toISOString(),
      readOnly: true,
    });
    expect(token.status).toBe(201);
    const reader = z.looseObject({ token: z.string() }).parse(JSON.parse(token.text));
    const url = `${harness.connection.apiUrl}/api/environment/${id}/sleep`;
    expect((await send(url, { method: 'POST', headers: { 'x-service-token': reader.token } })).status).toBe(403);
  }, 60_000);

  test('are led nowhere by an EndpointSlice: not even the operator can write one for other pods', async () => {
    const labels = {
      'app.kubernetes.io/managed-by': 'coppice',
      'endpointslice.kubernetes.io/managed-by': 'coppice.dev',
    };
    const slice = JSON.stringify({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'evil', namespace: namespaceOf(id), labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'] }],
      ports: [{ name: 'tcp-8080', port: 6443 }],
    });
    const operator = 'system:serviceaccount:coppice-system:coppice-operator';
    await expect(harness.kubectl(['create', `--as=${operator}`, '--filename=-'], { input: slice })).rejects.toThrow(
      /only for the waker's pods/,
    );
  }, 60_000);
});
