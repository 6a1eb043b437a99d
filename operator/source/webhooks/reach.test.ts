import { expect, test } from '@jest/globals';
import { canReach } from './reach.ts';

test.each([
  ['https://github.com', 'https://coppice.example.com', true],
  ['https://github.com', 'http://coppice.localhost:8080', false],
  ['https://github.com', 'http://localhost:8080', false],
  ['https://github.com', 'http://coppice', false],
  ['https://github.com', 'http://coppice.svc.cluster.local', false],
  ['https://github.com', 'https://coppice.corp.internal', false],
  ['https://github.com', 'https://10.1.2.3', false],
  ['https://github.com', 'https://[::1]:8080', false],
  ['https://github.com', 'https://8.8.8.8', true],
  ['https://github.com', 'https://[2606:4700::1]', true],
  ['http://ownerhost.localhost:8080/a/b', 'http://coppice.localhost:8080', true],
  ['https://git.corp.internal', 'https://coppice.corp.internal', true],
  ['http://192.168.1.2:3000', 'http://192.168.1.3', true],
  ['http://192.168.1.2:3000', 'https://coppice.example.com', true],
])('returns whether %s can reach %s: %s', (host, api, expected) => {
  expect(canReach(new URL(host), new URL(api))).toBe(expected);
});
