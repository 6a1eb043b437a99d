// A file that native-runner.test.ts runs. It must fail, although its test would pass.
import { test } from '@jest/globals';

test('passes', () => undefined);

throw new Error('while the file is imported');
