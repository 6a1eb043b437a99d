import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { sampleContext, sampleService } from './testing/sample-context.ts';
import { wakerSlice } from './waker-slices.ts';

const context = sampleContext({
  services: [sampleService({ name: 'web' })],
  publicRoutes: [{ service: 'web', port: 8080, path: '/' }],
});

const waker = (name: string, podIP?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'coppice-system' },
  status: podIP === undefined ? {} : { podIP },
});

test.each<[string, Pod[], string, string[]]>([
  [
    'wakers of an IPv4 cluster',
    [waker('a', '10.244.0.5'), waker('b', '10.244.0.6')],
    'IPv4',
    ['10.244.0.5', '10.244.0.6'],
  ],
  ['wakers of an IPv6-only cluster', [waker('a', 'fd00::5'), waker('b', 'fd00::6')], 'IPv6', ['fd00::5', 'fd00::6']],
  ['a waker without an address yet', [waker('a'), waker('b', 'fd00::6')], 'IPv6', ['fd00::6']],
])('has %s', (_which, wakers, addressType, addresses) => {
  const slice = wakerSlice(context, 'web', wakers, { isRunning: false });
  expect(slice.addressType).toBe(addressType);
  expect(slice.endpoints?.flatMap((one) => one.addresses)).toEqual(addresses);
});
