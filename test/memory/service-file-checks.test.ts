import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, jest, test } from '@jest/globals';

/** As long as the measured checks can take. */
jest.setTimeout(600_000);

const program = new URL('../../api/testing/measure-checks.ts', import.meta.url).pathname;

/** Without the options of the tests' processes: their large young generation would be measured too. */
const environment = { ...process.env, NODE_OPTIONS: '' };

// The checks run in a process of their own, whose memory is measured. Four threads of 256 MiB used 1.1 GiB for the
// first.
test.each([
  ['beyond the limit of tokens', '64000', 'more than 60000 YAML tokens'],
  ['just below it', '19000', 'more than 20000 values'],
])('uses less than 128 MiB when eight accounts check files %s at once', async (_, elements, message) => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, elements], { env: environment });
  const measured = JSON.parse(stdout) as { mebibytes: number; errors: string[] };
  expect(measured.errors).toEqual(Array(8).fill(expect.stringContaining(message)));
  expect(measured.mebibytes).toBeLessThan(128);
});
