import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import { pino } from 'pino';
import request from 'supertest';
import { Sessions } from '../../api/auth/sessions.ts';
import { errorResponse } from '../../api/http/error-response.ts';
import { limitByAddress, redisStores, type CommandRedis } from '../../api/limits/rate-limit.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

let server: TestRedis;
let redis: RedisClient;
const session = { userName: 'user-1', accountId: 'a' };
const logger = pino({ level: 'silent' });

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
});
afterAll(() => server.stop());

/** Returns one replica's app with one endpoint that accepts two requests a minute. */
function limitedApp(commands: CommandRedis) {
  const app = express();
  const limits = { loginsPerMinute: 2, requestsPerMinute: 2 };
  app.use(limitByAddress(limits, redisStores(commands), logger));
  app.get('/', (_request, response) => void response.json({}));
  const answer: ErrorRequestHandler = (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    const { status, headers, body } = errorResponse(error);
    response.status(status).set(headers).json(body);
  };
  app.use(answer);
  return app;
}

test('keeps logins, and no revoked ones, after Redis was killed', async () => {
  const sessions = new Sessions(redis, Date.now, randomBytes);
  const [kept, ended] = [await sessions.create(session), await sessions.create(session)];
  await sessions.revoke(ended);
  await server.kill();
  await server.start();
  const after = new Sessions(await server.connect(), Date.now, randomBytes);
  expect(await after.find(kept)).toEqual(session);
  expect(await after.find(ended)).toBeUndefined();
});

test('ends a session after a day without use by Redis itself, and extends it by use', async () => {
  let now = Date.now() - 23 * 3600 * 1000;
  const sessions = new Sessions(redis, () => now, randomBytes);
  const token = await sessions.create(session);
  const keys = await redis.keys('coppice:session:*');
  const before = await Promise.all(keys.map((name) => redis.pExpireTime(name)));
  now = Date.now();
  expect(await sessions.find(token)).toEqual(session);
  const after = await Promise.all(keys.map((name) => redis.pExpireTime(name)));
  expect(after.filter((time, index) => time > (before[index] ?? 0))).toEqual([now + 24 * 3600 * 1000]);
  now -= 25 * 3600 * 1000;
  const late = await sessions.create(session);
  expect(await sessions.find(late)).toBeUndefined();
});

test('counts over all replicas', async () => {
  const [one, two] = [limitedApp(redis), limitedApp(await server.connect())];
  await request(one).get('/').expect(200);
  await request(two).get('/').expect(200);
  const refused = await request(one).get('/').expect(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  await redis.flushAll();
});

test('limits again after Redis was away, even at the start', async () => {
  let isAway = true;
  const app = limitedApp({
    sendCommand: (command) => (isAway ? Promise.reject(new Error('closed')) : redis.sendCommand(command)),
  });
  await request(app).get('/').expect(503);
  isAway = false;
  await request(app).get('/').expect(200);
  await redis.sendCommand(['SCRIPT', 'FLUSH']);
  await request(app).get('/').expect(200);
  await request(app).get('/').expect(429);
});
