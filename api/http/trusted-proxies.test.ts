import { expect, test } from '@jest/globals';
import { trustedProxies } from './trusted-proxies.ts';

const pods = ['10.42.0.0/16', 'fd00:42::/64'];

test.each<[string, number, string[], string, number, boolean]>([
  ['nobody, without a proxy before the API', 0, [], '10.42.0.7', 0, false],
  ['every client that connects, by default', 1, [], '192.0.2.1', 0, true],
  ['the Ingress controller', 1, pods, '10.42.0.7', 0, true],
  ['the Ingress controller, as a dual-stack socket names it', 1, pods, '::ffff:10.42.0.7', 0, true],
  ['the Ingress controller by IPv6', 1, pods, 'fd00:42::7', 0, true],
  ['another pod, which can send any header', 1, pods, '10.43.0.7', 0, false],
  ['another pod by IPv6', 1, pods, 'fd00:43::7', 0, false],
  ['a text that is not an address', 1, pods, 'unknown', 0, false],
  ['the client before the only proxy', 1, pods, '10.42.0.7', 1, false],
  ['the load balancer that the proxy reports', 2, pods, '192.0.2.1', 1, true],
])('%s', (_what, count, cidrs, address, hop, expected) => {
  expect(trustedProxies(count, cidrs)(address, hop)).toBe(expected);
});
