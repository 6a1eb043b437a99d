import { expect, test } from '@jest/globals';
import { parseConfig } from './config.ts';

const least = {
  ENVIRONMENTS_URL: 'http://env.localhost:8080',
  REDIS_URL: 'redis://redis:6379',
  TESTER_TOKEN_FILE: '/etc/token',
};

test('needs only the required variables', () => {
  const { environments, ...config } = parseConfig({ ...least, LOG_LEVEL: '' });
  expect([environments.domain, environments.port]).toEqual(['env.localhost', 8080]);
  expect(config).toEqual({
    port: 3000,
    healthPort: 3001,
    logLevel: 'info',
    redis: { url: 'redis://redis:6379', password: undefined },
    tokenFile: '/etc/token',
    browserUrl: 'http://127.0.0.1:3002',
    deadlineMs: 60_000,
    keep: { ms: 604_800_000, bytes: 67_108_864 },
    limits: { atWork: { total: 3, perGroup: 2 }, waiting: { total: 1000, perGroup: 250 } },
  });
});

test.each([
  [{ ENVIRONMENTS_URL: 'env.localhost' }, 'ENVIRONMENTS_URL: must be an http:// or https:// URL'],
  [{ REDIS_URL: '' }, 'REDIS_URL: must be a redis:// or rediss:// URL'],
  [{ TESTER_TOKEN_FILE: '' }, 'TESTER_TOKEN_FILE: '],
  [{ RUNS: '0' }, 'RUNS: '],
  [{ QUEUE: 'many' }, 'QUEUE: '],
  [{ DEADLINE_SECONDS: '1.5' }, 'DEADLINE_SECONDS: '],
])('refuses %j', (wrong, message) => {
  expect(() => parseConfig({ ...least, ...wrong })).toThrow(message);
});

test('does not print refused values, which may be secret', () => {
  const wrong = { ...least, REDIS_URL: 'http://user:hunter2@redis' };
  expect(() => parseConfig(wrong)).toThrow(/^(?!.*hunter2)/);
});
