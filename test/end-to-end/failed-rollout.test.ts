import { afterAll, beforeAll, expect } from '@jest/globals';
import { conditionOf, pageWith, startHarness, type Harness } from './harness.ts';
import { testsSideBySide } from './side-by-side.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('rollout');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

testsSideBySide(
  {
    'a service that does not come up is told with its last words, and can be mended and built again': tellsAndMends,
    'a failed build leaves the last good version running': keepsLastGood,
  },
  420_000,
);

async function tellsAndMends(): Promise<void> {
  await harness.push('shop', 'crashing', { 'web/server.mjs': 'console.log("cannot start"); process.exit(3);\n' });
  const id = await harness.spawn(repository, 'crashing');
  const environment = await harness.stalled(id);
  expect(environment.status).toBe('created');
  expect(conditionOf(environment, 'Built')).toMatchObject({
    reason: 'RolloutFailed',
    message: expect.stringMatching(/not up after \d+ s: web: .*exit code 3: cannot start/),
  });
  await harness.push('shop', 'crashing', { 'web/title.txt': 'Mended\n' });
  await harness.client.send('POST', `/api/environment/${id}/build`);
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'Mended');
}

async function keepsLastGood(): Promise<void> {
  await harness.push('shop', 'steady', { 'web/title.txt': 'Steady\n' });
  const id = await harness.spawn(repository, 'steady');
  const { weburl } = await harness.built(id);
  await harness.push('shop', 'steady', { 'web/server.mjs': 'process.exit(3);\n' });
  await harness.client.send('POST', `/api/environment/${id}/build`);
  const failed = await harness.stalled(id);
  expect(failed.status).toBe('built');
  expect(conditionOf(failed, 'Built')?.status).toBe('False');
  await pageWith(weburl, '<h1>Steady</h1>');
}
