import { expect, test } from '@jest/globals';
import { readConfig } from './config.ts';

const least = { TOKEN_URL: 'https://coppice.example.com/registry/token', SERVICE: 'registry.example.com' };

test('reads what the chart sets', () => {
  expect(readConfig({ ...least, SHARED_PREFIXES: 'docker.io/ ghcr.io/' })).toMatchObject({
    PORT: 3000,
    SHARED_PREFIXES: ['docker.io/', 'ghcr.io/'],
  });
  expect(readConfig({ ...least, SHARED_PREFIXES: '' }).SHARED_PREFIXES).toEqual([]);
});

test.each([
  ['no URL', { SERVICE: 'a' }, 'TOKEN_URL'],
  ['a shared prefix of everything', { ...least, SHARED_PREFIXES: '/' }, 'SHARED_PREFIXES'],
  ['a shared prefix that others start with too', { ...least, SHARED_PREFIXES: 'docker.io' }, 'SHARED_PREFIXES'],
])('refuses %s', (_what, environment, named) => {
  expect(() => readConfig(environment)).toThrow(named);
});
