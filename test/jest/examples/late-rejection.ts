// A file that native-runner.test.ts runs. It must fail, although its test passes.
import { test } from '@jest/globals';

test('passes', () => {
  void Promise.reject(new Error('nobody handles this'));
});
