import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { send } from '../../client/local-http.ts';
import { conditionOf, namespaceOf, pageWith } from '../harness.ts';
import { outputInPod } from '../single-pod.ts';
import { BROWSER, SleepyEnvironment } from '../sleepy-environment.ts';
import { sleepyShop } from '../sleepy-shop.ts';

let shop: SleepyEnvironment;

beforeAll(async () => {
  shop = await SleepyEnvironment.start('wake');
}, 400_000);

afterAll(() => shop.harness.remove(), 60_000);

describe('an environment that sleeps', () => {
  test('is woken by the script of its page, which another host does not accept', async () => {
    await shop.sleep();
    const { text } = await send(shop.weburl, { headers: BROWSER });
    expect(text).toContain(shop.id);
    const proof = /"x-coppice-proof": "([^"]+)"/.exec(text)?.[1] ?? '';
    const wake = `${shop.weburl}.well-known/coppice/wake`;
    expect((await send(wake, { method: 'POST', headers: { 'x-coppice-proof': proof } })).status).toBe(202);
    await pageWith(shop.weburl, 'Shop', 60);
  }, 120_000);

  test('builds a new commit, and starts it when it wakes', async () => {
    await shop.sleep();
    await shop.harness.push('shop', 'main', sleepyShop('Newer'));
    await shop.harness.sync(shop.repository);
    await shop.harness.client.waitForEnvironment(
      shop.id,
      ({ status, conditions }) =>
        status === 'built' && conditions?.some(({ message }) => message.startsWith('build 2:')) === true,
      200,
    );
    expect(conditionOf(await shop.harness.client.environment(shop.id), 'Asleep')?.status).toBe('True');
    expect((await shop.post('wake')).status).toBe(202);
    await pageWith(shop.weburl, 'Newer', 60);
    expect(await shop.runs()).toBe('2');
  }, 300_000);
});

describe('inside the cluster', () => {
  /** Returns a command that prints the answer of the Service, or why there is none. */
  const call = (seconds: number) => {
    const url = `http://web.${namespaceOf(shop.id)}.svc:8080/cgi-bin/runs`;
    const sent = `fetch('${url}', { signal: AbortSignal.timeout(${seconds * 1000}) }).then((answer) => answer.text())`;
    const failed = '({ name, cause }) => { console.error(name, cause?.code); process.exit(1); }';
    return ['node', '-e', `${sent}.then(console.log, ${failed})`];
  };

  test('a pod of another environment cannot connect to the Service, and wakes nothing', async () => {
    const { harness } = shop;
    const files = { 'compose.yaml': 'services: { shell: { image: node:24-slim, command: sleep 3600 } }\n' };
    const url = await harness.push('neighbour', 'main', files);
    const neighbour = await harness.spawn(await harness.addRepository('neighbour', url), 'main');
    await harness.built(neighbour);
    await shop.sleep();
    const exec = ['exec', '--namespace', namespaceOf(neighbour), 'deployment/shell', '--', ...call(5)];
    await expect(harness.kubectl(exec)).rejects.toThrow(/TimeoutError|ECONNREFUSED|EHOSTUNREACH/);
    expect(conditionOf(await harness.client.environment(shop.id), 'Asleep')?.status).toBe('True');
  }, 180_000);

  test('a pod that can connect to the running service wakes it by the name of the Service', async () => {
    expect(await outputInPod(shop.harness, 'traefik', call(60))).toMatch(/^\d+\n$/);
    const woken = await shop.harness.built(shop.id);
    expect(conditionOf(woken, 'Asleep')).toMatchObject({ status: 'False', reason: 'Visited' });
  }, 120_000);
});
