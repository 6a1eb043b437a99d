import { expect, test } from '@jest/globals';
import { quantityValue } from './quantity.ts';
import { resources } from './resources.ts';
import { sampleService, sampleSettings } from './testing/sample-context.ts';

test.each([
  ['512Mi', 512 * 2 ** 20],
  ['500m', 0.5],
  ['1.5', 1.5],
  ['2e3', 2000],
  ['1G', 1e9],
  ['x', Number.NaN],
  ['1Q', Number.NaN],
])('%s is %d', (quantity, expected) => {
  expect(quantityValue(quantity)).toBe(expected);
});

test.each([
  ['nothing', { requests: {}, limits: {} }, {}],
  ['a limit', { requests: {}, limits: { memory: '2Gi' } }, { limits: { memory: '2Gi' }, requests: { memory: '32Mi' } }],
  [
    'a low limit',
    { requests: {}, limits: { memory: '16Mi' } },
    { limits: { memory: '16Mi' }, requests: { memory: '16Mi' } },
  ],
  [
    'more than the default limit',
    { requests: { memory: '2Gi' }, limits: {} },
    { limits: { memory: '2Gi' }, requests: { memory: '2Gi' } },
  ],
  ['a reservation', { requests: { cpu: '250m' }, limits: {} }, { requests: { cpu: '250m' } }],
])('%s', (_what, given, expected) => {
  expect(resources(sampleService({ resources: given }), sampleSettings)).toEqual(expected);
});
