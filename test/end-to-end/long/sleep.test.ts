import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { send } from '../../client/local-http.ts';
import { conditionOf, pageWith } from '../harness.ts';
import { BROWSER, SleepyEnvironment } from '../sleepy-environment.ts';
import { sleepyShop } from '../sleepy-shop.ts';

let shop: SleepyEnvironment;

beforeAll(async () => {
  shop = await SleepyEnvironment.start('sleep');
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
