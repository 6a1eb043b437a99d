import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { startServer } from '../http/server.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_BUDGETS } from '../testing/test-options.ts';

const mebibyte = 1024 * 1024;
let api: TestApi;
let token: string;
let server: Server;
let port: number;

beforeEach(async () => {
  const budgets = { ...TEST_BUDGETS, requestMemoryBytes: 16 * mebibyte };
  ({ api, token } = await TestApi.withShop({ budgets, trustedProxies: 1 }));
  ({ server, port } = await startServer(api.app, api.webSockets, 0));
});

afterEach(() => {
  server.close();
});

/** A request that declares a body and sends none of it. */
async function unfinished(path: string, headers: Record<string, string>): Promise<() => void> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return () => socket.destroy();
}

const check = (headers: Record<string, string>) => unfinished('/api/repository/acme.shop/check', headers);
const spawn = () =>
  request(`http://127.0.0.1:${port}`)
    .post('/api/repository/acme.shop/check')
    .set('X-SERVICE-TOKEN', token)
    .send({ serviceFile: Buffer.from('a: 1').toString('base64') });

test('counts bodies that never arrive towards the share of their account only', async () => {
  const length = { 'X-SERVICE-TOKEN': token, 'Content-Length': String(mebibyte) };
  const ends = [await check(length), await check(length)];
  const refused = await spawn();
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '2']);
  expect(refused.body).toEqual({ error: expect.stringContaining('use 4 MiB') });
  const { token: other } = await api.login('ben@example.com');
  api.addGroup('other', ['ben@example.com']);
  await request(`http://127.0.0.1:${port}`).get('/api/groups').set('X-SERVICE-TOKEN', other).expect(200);
  for (const end of ends) end();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await spawn()).status).toBe(200);
});

test('counts a body without a length as the largest permitted one', async () => {
  const chunked = { 'X-SERVICE-TOKEN': token, 'Transfer-Encoding': 'chunked' };
  const ends = [await check(chunked), await check(chunked)];
  expect((await spawn()).status).toBe(429);
  for (const end of ends) end();
});

test('counts deliveries that never arrive by address', async () => {
  const end = await unfinished('/api/webhooks/generic/acme.shop', { 'Content-Length': String(mebibyte) });
  await request(`http://127.0.0.1:${port}`).post('/api/webhooks/generic/acme.shop').send('{}').expect(429);
  expect((await spawn()).status).toBe(200);
  end();
});

test('counts the IPv6 addresses of one network as one', async () => {
  const path = '/api/webhooks/generic/acme.shop';
  const end = await unfinished(path, { 'X-Forwarded-For': '2001:db8:0:1::7', 'Content-Length': String(mebibyte) });
  const deliver = (address: string) =>
    request(`http://127.0.0.1:${port}`).post(path).set('X-Forwarded-For', address).send('{}');
  expect((await deliver('2001:db8:0:1::8')).status).toBe(429);
  expect((await deliver('2001:db8:1:1::8')).status).not.toBe(429);
  end();
});

test('refuses a body with too many values before parsing it', async () => {
  const body = `{"serviceFile": [${'0,'.repeat(30_000)}0]}`;
  const answer = await request(`http://127.0.0.1:${port}`)
    .post('/api/repository/acme.shop/check')
    .set('X-SERVICE-TOKEN', token)
    .send(body);
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({ details: [{ path: '', message: 'has more than 20000 values' }] });
});

test('limits requests without a token to 16 KiB', async () => {
  const answer = await request(`http://127.0.0.1:${port}`)
    .post('/api/user/login')
    .send({ email: 'a@x.example', password: 'x'.repeat(20_000) });
  expect(answer.status).toBe(413);
  expect(answer.body).toEqual({ error: 'the body is too large: the limit is 16 KiB. Send less' });
});

test('names at most 50 errors in a response', async () => {
  const files = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`f${index}`, '*']));
  const answer = await request(`http://127.0.0.1:${port}`)
    .post('/api/repository/acme.shop/check')
    .set('X-SERVICE-TOKEN', token)
    .send({ serviceFile: '', files });
  expect(answer.status).toBe(422);
  expect((answer.body as { details: unknown[] }).details).toHaveLength(50);
});
