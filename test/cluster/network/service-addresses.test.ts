import { expect, test } from '@jest/globals';
import { staleAddresses, podsAndSlicesSchema } from './service-addresses.ts';

const pod = (uid: string, ...addresses: string[]) => ({
  kind: 'Pod',
  metadata: { uid },
  status: addresses.length > 0 ? { podIPs: addresses.map((ip) => ({ ip })) } : {},
});
const slice = (...endpoints: [uid: string | undefined, address: string][]) => ({
  kind: 'EndpointSlice',
  endpoints: endpoints.map(([uid, address]) => ({
    addresses: [address],
    ...(uid !== undefined && { targetRef: { kind: 'Pod', uid } }),
  })),
});

test.each([
  ['each pod where its Service looks for it', [pod('git', '10.0.0.5'), slice(['git', '10.0.0.5'])], []],
  ['a pod with an address of each family', [pod('git', '10.0.0.5', 'fd00::5'), slice(['git', 'fd00::5'])], []],
  ['a pod that has another address now', [pod('git', '10.0.0.9'), slice(['git', '10.0.0.5'])], ['10.0.0.5']],
  [
    'a pod whose old address another pod has',
    [pod('git', '10.0.0.9'), pod('api', '10.0.0.5'), slice(['git', '10.0.0.5'], ['api', '10.0.0.5'])],
    ['10.0.0.5'],
  ],
  ['a deleted pod', [slice(['git', '10.0.0.5'])], ['10.0.0.5']],
  ['a pod that has no address yet', [pod('git'), slice(['git', '10.0.0.5'])], ['10.0.0.5']],
  ['no pod behind the Service', [pod('git', '10.0.0.5'), { kind: 'EndpointSlice', endpoints: null }], []],
  ['an address that is not a pod’s', [slice([undefined, '172.18.0.2'])], []],
])('%s', (_, items, expected) => {
  expect(staleAddresses(podsAndSlicesSchema.parse({ items }))).toEqual(expected);
});
