import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { redisMetrics, type RedisToMeasure } from './redis-metrics.ts';

const info = '# Memory\r\nused_memory:1048576\r\nused_memory_rss:9\r\nmaxmemory:2097152\r\n';

async function samples(redis: RedisToMeasure, registry = new Registry()): Promise<string[]> {
  redisMetrics(redis, registry);
  const text = await registry.metrics();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('reports Redis as up with its memory usage', async () => {
  expect((await samples({ isReady: true, info: () => Promise.resolve(info) })).sort()).toEqual([
    'coppice_redis_max_memory_bytes 2097152',
    'coppice_redis_memory_bytes 1048576',
    'coppice_redis_up 1',
  ]);
});

test.each<[what: string, redis: RedisToMeasure, expected: string[]]>([
  ['is not connected', { isReady: false, info: () => Promise.reject(new Error('asked')) }, ['coppice_redis_up 0']],
  ['fails', { isReady: true, info: () => Promise.reject(new Error('Socket closed')) }, ['coppice_redis_up 0']],
  ['is silent', { isReady: true, info: () => new Promise(() => undefined) }, ['coppice_redis_up 0']],
  [
    'lets this user not ask for it',
    { isReady: true, info: () => Promise.reject(new Error("NOPERM User coppice has no permissions to run 'info'")) },
    ['coppice_redis_up 1'],
  ],
])('reports Redis as down if it %s', async (_what, redis, expected) => {
  expect(await samples(redis)).toEqual(expected);
});

test('does not report a former memory usage while Redis is away', async () => {
  const registry = new Registry();
  const redis = { isReady: true, info: () => Promise.resolve(info) };
  expect(await samples(redis, registry)).toHaveLength(3);
  redis.isReady = false;
  expect((await registry.metrics()).split('\n').filter((line) => line.startsWith('coppice_'))).toEqual([
    'coppice_redis_up 0',
  ]);
});
