import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { send } from '../../client/local-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith } from '../harness.ts';
import { BROWSER, SleepyEnvironment } from '../sleepy-environment.ts';

let shop: SleepyEnvironment;

beforeAll(async () => {
  shop = await SleepyEnvironment.start('sleep');
}, 400_000);

afterAll(() => shop.harness.remove(), 60_000);

const wakerSlices = async () => (await shop.names('endpointslices')).filter((name) => name.startsWith('waker-'));

describe('an environment that sleeps', () => {
  test('keeps its state, address and volumes, and has no pods', async () => {
    await shop.sleep();
    const environment = await shop.harness.client.environment(shop.id);
    expect([environment.status, environment.weburl]).toEqual(['built', shop.weburl]);
    expect(conditionOf(environment, 'Ready')).toMatchObject({ status: 'True', reason: 'Asleep' });
    expect(environment).toMatchObject({ asleep: true, health: 'inactive' });
    expect(await shop.names('persistentvolumeclaims')).toHaveLength(1);
    expect(await shop.names('ingresses')).toEqual(['web']);
    const columns = await shop.harness.kubectl(['get', 'cenv', '--namespace', `group-${shop.harness.group}`]);
    expect(columns).toMatch(/ASLEEP/);
    expect(columns).toMatch(/built.*True\s+True/);
  }, 90_000);

  test('is woken by nothing that nobody waits for', async () => {
    const unanswered = [
      send(shop.weburl, { method: 'HEAD' }),
      send(`${shop.weburl}robots.txt`),
      send(`${shop.weburl}favicon.ico`),
      send(shop.weburl, {
        headers: { ...BROWSER, 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
      }),
      send(shop.weburl, { headers: { 'user-agent': 'kube-probe/1.34' } }),
      send(shop.weburl, { headers: BROWSER }),
      send(`${shop.weburl}.well-known/coppice/wake`, { method: 'POST', headers: { 'x-coppice-proof': '1.x' } }),
    ];
    const statuses = (await Promise.all(unanswered)).map(({ status }) => status);
    expect(statuses).toEqual([503, 200, 503, 503, 503, 503, 403]);
    expect(conditionOf(await shop.harness.client.environment(shop.id), 'Asleep')?.status).toBe('True');
  }, 60_000);

  test('is woken by a client, whose request is held with its body, without running jobs again', async () => {
    const body = 'x'.repeat(200_000);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(`${shop.weburl}cgi-bin/echo`, { method: 'POST', body, timeoutMs: 60_000 })),
    );
    expect(answers.map(({ status, text }) => [status, text.length])).toEqual(answers.map(() => [200, body.length]));
    expect(await shop.runs()).toBe('1');
    const environment = await shop.harness.built(shop.id);
    expect(conditionOf(environment, 'Asleep')).toMatchObject({ status: 'False', reason: 'Visited' });
    await waitFor('the waker to be out of the way', 30, async () =>
      (await wakerSlices()).length === 0 ? true : undefined,
    );
    await pageWith(shop.weburl, 'Shop');
  }, 120_000);
});

describe('strangers', () => {
  test('cannot put it to sleep, nor wake it', async () => {
    const stranger = await shop.harness.newUser();
    for (const action of ['sleep', 'wake', 'settings']) {
      expect((await stranger.send('POST', `/api/environment/${shop.id}/${action}`, { sleep: {} })).status).toBe(404);
    }
    const token = await shop.harness.client.send('POST', '/api/user/tokens', {
      name: 'reader',
      expirationTime: new Date(Date.now() + 3600_000).toISOString(),
      readOnly: true,
    });
    expect(token.status).toBe(201);
    const reader = z.looseObject({ token: z.string() }).parse(JSON.parse(token.text));
    const url = `${shop.harness.connection.apiUrl}/api/environment/${shop.id}/sleep`;
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
      metadata: { name: 'evil', namespace: namespaceOf(shop.id), labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'] }],
      ports: [{ name: 'tcp-8080', port: 6443 }],
    });
    const operator = 'system:serviceaccount:coppice-system:coppice-operator';
    await expect(
      shop.harness.kubectl(['create', `--as=${operator}`, '--filename=-'], { input: slice }),
    ).rejects.toThrow(/only for the waker's pods/);
  }, 60_000);
});
