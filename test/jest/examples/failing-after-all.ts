// A file that native-runner.test.ts runs. It must fail, although its test passes.
import { afterAll, test } from '@jest/globals';

afterAll(() => {
  throw new Error('after all');
});

test('passes', () => undefined);
