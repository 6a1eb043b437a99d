import { expect, test } from '@jest/globals';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';
import { backendsOf, Environments, routeOf } from './environments.ts';
import { sampleEnvironment } from './testing/sample-environment.ts';

const routes = [
  { path: '/', service: 'web', port: 80 },
  { path: '/api', service: 'api', port: 3000 },
  { path: '/api/v2/', service: 'next', port: 3001 },
];

test.each([
  ['/', 'web'],
  ['/index.html', 'web'],
  ['/api', 'api'],
  ['/api/', 'api'],
  ['/api/users', 'api'],
  ['/apis', 'web'],
  ['/api/v2', 'next'],
  ['/api/v2/users', 'next'],
  ['/api/v20', 'api'],
])('routes %s to %s', (path, service) => {
  expect(routeOf(routes, path)?.service).toBe(service);
});

test('routes nothing below another prefix', () => {
  expect(routeOf(routes.slice(1), '/')).toBeUndefined();
});

function known(...given: KnownEnvironment[]) {
  let now = 0;
  const environments = new Environments({ lingerMs: 1000, now: () => now });
  const report = environments.receiver();
  for (const environment of given) report({ type: 'environment', environment });
  return { environments, report, passes: (ms: number) => (now += ms) };
}

test('finds an environment by its hosts alone, and no longer by former ones', () => {
  const first = sampleEnvironment();
  const { environments, report } = known(first, sampleEnvironment({ key: 'group-b/shop', hosts: { 'b.example': [] } }));
  expect(environments.ofHost('shop.example')?.key).toBe('group-a/shop');
  expect(environments.ofHost('b.example')?.key).toBe('group-b/shop');
  expect(environments.ofHost('c.example')).toBeUndefined();
  report({ type: 'environment', environment: { ...first, hosts: { 'new.example': [] } } });
  expect(environments.ofHost('shop.example')).toBeUndefined();
  report({ type: 'gone', key: first.key });
  expect([environments.ofHost('new.example'), environments.size]).toEqual([undefined, 1]);
});

test('returns the ready pods of the service that a path leads to', () => {
  const environment = sampleEnvironment({
    hosts: { 'shop.example': routes },
    backends: { web: ['10.0.0.1', '10.0.0.2'], api: [] },
  });
  expect(backendsOf(environment, 'shop.example', '/')).toEqual([
    { address: '10.0.0.1', port: 80 },
    { address: '10.0.0.2', port: 80 },
  ]);
  expect(backendsOf(environment, 'shop.example', '/api')).toEqual([]);
  expect(backendsOf(environment, 'other.example', '/')).toEqual([]);
});

test('forgets environments that requests no longer reach, and no others', () => {
  const left = sampleEnvironment({ mode: 'left' });
  const { environments, passes } = known(
    left,
    sampleEnvironment({ mode: 'awake', key: 'group-b/shop', hosts: { 'b.example': [] } }),
  );
  passes(900);
  environments.ofHost('shop.example');
  passes(900);
  environments.sweep();
  expect(environments.size).toBe(2);
  passes(200);
  environments.sweep();
  expect(environments.ofHost('shop.example')).toBeUndefined();
  expect(environments.ofHost('b.example')).toBeDefined();
});

test('forgets what an operator no longer reports on a new connection, unless that does not know everything yet', () => {
  const first = sampleEnvironment();
  const { environments } = known(first, sampleEnvironment({ key: 'group-b/shop', hosts: { 'b.example': [] } }));
  const next = environments.receiver();
  next({ type: 'environment', environment: first });
  next({ type: 'synced', isComplete: false });
  expect(environments.size).toBe(2);
  next({ type: 'synced', isComplete: true });
  expect(environments.ofHost('b.example')).toBeUndefined();
  expect(environments.ofHost('shop.example')).toEqual(first);
});
