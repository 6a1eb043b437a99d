import { beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { TestApi } from '../testing/test-api.ts';
import { TEST_BUDGETS } from '../testing/test-options.ts';

const kibibyte = 1024;
let api: TestApi;
let token: string;

beforeEach(async () => {
  const written = { perMinute: 200 * kibibyte, perHour: 500 * kibibyte };
  ({ api, token } = await TestApi.withShop({ budgets: { ...TEST_BUDGETS, written } }));
});

const variables = '/api/repository/acme.shop/variables';
const patch = (value: string) =>
  request(api.app).patch(variables).set('x-service-token', token).send({ name: 'KEY', value });

/** Returns how many changes of a value are accepted before the first refusal. */
async function acceptedChanges(value: string): Promise<number> {
  for (let count = 0; count < 100; count++) {
    const answer = await patch(value);
    if (answer.status === 200) continue;
    expect(answer.status).toBe(429);
    expect(Number(answer.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.text).toMatch(/written .* MiB to the cluster within a (minute|hour)/);
    return count;
  }
  return Infinity;
}

test('limits the bytes that an account writes in a minute and in an hour', async () => {
  await request(api.app).post(variables).set('x-service-token', token).send({ name: 'KEY', value: 'x' }).expect(201);
  const small = await acceptedChanges('x');
  api.now += 60_000;
  const large = await acceptedChanges('x'.repeat(30_000));
  expect(large).toBeGreaterThan(0);
  expect(large).toBeLessThan(small);
  api.now += 60_000;
  await acceptedChanges('x');
  api.now += 60_000;
  // The budget of the hour is used up.
  expect(await acceptedChanges('x')).toBeLessThan(small / 2);
  api.now += 3_600_000;
  await patch('y').expect(200);
  const metrics = await api.registry.metrics();
  expect(metrics).toContain('coppice_api_limited_requests_total{limit="written-bytes"} 4');
});

test('counts a small write as 8 KiB', async () => {
  await request(api.app).post(variables).set('x-service-token', token).send({ name: 'KEY', value: 'x' }).expect(201);
  api.now += 60_000;
  const before = api.cluster.patches.length;
  await acceptedChanges('x');
  expect(api.cluster.patches.length - before).toBeLessThanOrEqual(200 / 8 + 2);
});

test('affects neither other accounts nor reads', async () => {
  await request(api.app).post(variables).set('x-service-token', token).send({ name: 'KEY', value: 'x' }).expect(201);
  await acceptedChanges('x'.repeat(10_000));
  await request(api.app).get('/api/repository/acme.shop/settings').set('x-service-token', token).expect(200);
  const bob = await api.login('bob@example.com');
  api.addGroup('rival', ['bob@example.com']);
  api.addRepository('rival', 'shop');
  await request(api.app)
    .post('/api/repository/rival.shop/variables')
    .set('x-service-token', bob.token)
    .send({ name: 'KEY', value: 'x' })
    .expect(201);
});

test('completes a request that has started to write', async () => {
  await request(api.app).post(variables).set('x-service-token', token).send({ name: 'KEY', value: 'x' }).expect(201);
  // Its first write alone is as large as the whole budget.
  await patch('x'.repeat(32_000)).expect(200);
  for (let count = 0; count < 10; count++) await patch('x'.repeat(32_000));
  const settings = await request(api.app).get('/api/repository/acme.shop/settings').set('x-service-token', token);
  expect(settings.body).toMatchObject({ variables: [{ name: 'KEY', value: 'x'.repeat(32_000) }] });
});

test('writes nothing while Redis does not respond', async () => {
  await request(api.app).post(variables).set('x-service-token', token).send({ name: 'KEY', value: 'x' }).expect(201);
  api.redis.get = () => Promise.reject(new Error('down'));
  const before = api.cluster.patches.length;
  await patch('y').expect(503);
  expect(api.cluster.patches).toHaveLength(before);
});
