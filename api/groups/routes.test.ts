import { expect, test } from '@jest/globals';
import request from 'supertest';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { TestApi } from '../testing/test-api.ts';

const params = { origin: 'https://git.example/cart.git' };

test.each([
  [undefined, undefined],
  ['false', undefined],
  [true, expect.stringMatching(/^\d{4}-/)],
])('adds a repository with sync=%p', async (sync, requested) => {
  const { api, token } = await TestApi.withShop();
  const body = { name: 'cart', type: 'generic', params, sync };
  await request(api.app).post('/api/group/acme').set('x-service-token', token).send(body).expect(201);
  const added = api.cluster.all<Repository>(REPOSITORY).find(({ metadata }) => metadata.name === 'cart');
  expect(added?.metadata.annotations?.['coppice.dev/request-sync']).toEqual(requested);
});
