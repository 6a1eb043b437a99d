import { expect, it } from '@jest/globals';
import { ipFamilyOf } from './kind-cluster.ts';

it.each([
  ['["10.244.0.0/24"]', 'ipv4'],
  ['["10.244.0.0/24","fd00:10:244::/64"]', 'dual'],
  ['["fd00:10:244::/64"]', 'ipv6'],
])('reads the address family of %s', (networks, family) => {
  expect(ipFamilyOf(networks)).toBe(family);
});
