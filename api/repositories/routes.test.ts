import { expect, test } from '@jest/globals';
import request from 'supertest';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { TestApi } from '../testing/test-api.ts';

test("returns the sum of its environments' sizes as its size", async () => {
  const { api, token } = await TestApi.withShop();
  const deployed = { number: 1, result: 'succeeded', startedAt: '2026-01-01T00:00:00Z' } as const;
  const sized = (sizeBytes: number) => ({ state: 'built', deployed: { ...deployed, sizeBytes } }) as const;
  api.addRepository('acme', 'other');
  api.addEnvironment('acme', 'shop-main', 'shop', { ...sized(100), volumes: { build: 1, usedBytes: 20 } });
  api.addEnvironment('acme', 'shop-feature', 'shop', sized(3));
  api.addEnvironment('acme', 'other-main', 'other', sized(1000));
  const answer = await request(api.app).get('/api/repository/acme.shop').set('x-service-token', token).expect(200);
  expect(answer.body).toMatchObject({ size: 123 });
});

test('requests each sync with a new annotation, and returns the repository', async () => {
  const { api, token } = await TestApi.withShop();
  const asked = async () => {
    await request(api.app)
      .post('/api/repository/acme.shop/sync')
      .set('x-service-token', token)
      .expect(202)
      .expect(({ body }) => expect(body).toMatchObject({ id: 'acme.shop', gid: 'acme', environments: [] }));
    const at = { namespace: 'group-acme', name: 'shop' };
    const repository = await api.cluster.find<Repository>(REPOSITORY, at);
    return repository?.metadata.annotations?.['coppice.dev/request-sync'];
  };
  const first = await asked();
  expect(first).toMatch(/^2026-01-02T00:00:00\.000Z\/[0-9a-f-]{36}$/);
  expect(await asked()).not.toBe(first);
});
