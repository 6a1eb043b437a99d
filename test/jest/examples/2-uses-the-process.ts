// A file that native-runner.test.ts runs after 1-changes-the-process.ts, in the same process.
import { expect, test } from '@jest/globals';
import { files } from './shared.ts';

test('sees what was before', () => {
  expect(files).toEqual(['1']);
  expect(Date.now()).toBeGreaterThan(0);
  expect(Math.random()).toBeLessThan(1);
  expect(process.env['COPPICE_EXAMPLE']).toBeUndefined();
  expect(process.listenerCount('SIGHUP')).toBe(0);
});
