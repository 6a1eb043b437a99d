import { expect, test } from '@jest/globals';
import { progressOf } from './progress.ts';
import { sampleEnvironment } from './testing/sample-environment.ts';

test('names only services that visitors can reach', () => {
  const services = [
    { name: 'web', ready: false },
    { name: 'payroll-db', ready: true },
    { name: 'queue', ready: false },
  ];
  expect(progressOf(sampleEnvironment({ mode: 'waking', services }), 'shop.example')).toEqual({
    ready: false,
    services: [{ name: 'web', ready: false }],
    others: { count: 2, ready: 1 },
  });
});
