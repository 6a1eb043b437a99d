import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { WrittenVersions } from '../../api/cluster/written-versions.ts';
import { Unavailable } from '../../api/shared/errors.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

let server: TestRedis;
let redis: RedisClient;
const logger = pino({ level: 'silent' });

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
});
afterAll(() => server.stop());

test('records over all replicas, never an older version, and forgets everything after a minute', async () => {
  const [here, there] = [new WrittenVersions(redis, logger), new WrittenVersions(await server.connect(), logger)];
  const versions = Array.from({ length: 50 }, (_, number) => String(123_456_789 + number));
  await Promise.all(versions.map((version, number) => (number % 2 ? here : there).note('alice', 'Group', version)));
  await here.note('alice', 'Group', '7');
  await there.note('alice', 'Environment', '9007199254740991');
  const noted = [
    { kind: 'Environment', resourceVersion: '9007199254740991' },
    { kind: 'Group', resourceVersion: '123456838' },
  ];
  const of = async (versions_: WrittenVersions) =>
    (await versions_.of('alice')).sort((a, b) => (a.kind < b.kind ? -1 : 1));
  expect(await of(here)).toEqual(noted);
  expect(await of(there)).toEqual(noted);
  expect(await here.of('bob')).toEqual([]);
  const left = await redis.pTTL('coppice:written:alice');
  expect(left).toBeGreaterThan(50_000);
  expect(left).toBeLessThanOrEqual(60_000);
});

test('writes while Redis is away, and then fails reads', async () => {
  const written = new WrittenVersions(redis, logger);
  await server.kill();
  await written.note('alice', 'Group', '1');
  await expect(written.of('alice')).rejects.toThrow(Unavailable);
  await server.start();
});
