import { expect, test } from '@jest/globals';
import request from 'supertest';
import { TestApi } from '../testing/test-api.ts';

test('counts the requests of a user over all tokens', async () => {
  const api = new TestApi({ limits: { loginsPerMinute: 1, requestsPerMinute: 3 } });
  const { token } = await api.login('alice@example.com');
  const body = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z' };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  const { token: ci } = made.body as { token: string };
  const info = (sent: string) => request(api.app).get('/api/user/info').set('x-service-token', sent);
  await info(ci).expect(200);
  await info(token).expect(200);
  await info(ci).expect(429);
  await info(token).expect(429);
});

test('sends nothing to the API server for an API token beyond the limit', async () => {
  const api = new TestApi({ limits: { loginsPerMinute: 1, requestsPerMinute: 2 } });
  const { token } = await api.login('alice@example.com');
  const body = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z' };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  const { token: ci } = made.body as { token: string };
  const groups = () => request(api.app).get('/api/groups').set('x-service-token', ci);
  let finds = 0;
  const find = api.cluster.find.bind(api.cluster);
  api.cluster.find = (type, at) => {
    finds++;
    return find(type, at);
  };
  await groups().expect(200);
  expect(finds).toBe(1);
  await groups().expect(429);
  expect(finds).toBe(1);
});
