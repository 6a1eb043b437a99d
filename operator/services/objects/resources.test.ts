import { describe, expect, test } from '@jest/globals';
import { resources } from './resources.ts';
import { sampleService, SAMPLE_SETTINGS } from './testing/sample-context.ts';

describe('resources of a container', () => {
  test.each([
    ['without settings', { requests: {}, limits: {} }, {}],
    [
      'with a limit',
      { requests: {}, limits: { memory: '2Gi' } },
      { limits: { memory: '2Gi' }, requests: { memory: '32Mi' } },
    ],
    [
      'with a low limit',
      { requests: {}, limits: { memory: '16Mi' } },
      { limits: { memory: '16Mi' }, requests: { memory: '16Mi' } },
    ],
    [
      'with a request above the default limit',
      { requests: { memory: '2Gi' }, limits: {} },
      { limits: { memory: '2Gi' }, requests: { memory: '2Gi' } },
    ],
    ['with a request', { requests: { cpu: '250m' }, limits: {} }, { requests: { cpu: '250m' } }],
  ])('%s', (_what, given, expected) => {
    expect(resources(sampleService({ resources: given }), SAMPLE_SETTINGS)).toEqual(expected);
  });
});
