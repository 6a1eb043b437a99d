import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { conditionOf, pageWith, startHarness, type Harness } from './harness.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('broken');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 180_000);

test('a branch that is not there is told in the conditions and the log', async () => {
  const id = await harness.spawn(repository, 'nowhere');
  const environment = await harness.stalled(id);
  expect(conditionOf(environment, 'Stalled')).toMatchObject({
    reason: 'RefNotFound',
    message: 'the branch nowhere is not in the repository: push it, then ask for a build',
  });
  const end = { result: 'failed', message: expect.stringContaining('nowhere') };
  expect(await harness.endOfLog(id)).toMatchObject({ end });
}, 120_000);

const broken: [string, Record<string, string>, RegExp][] = [
  [
    'a Dockerfile that fails',
    { 'api/Dockerfile': 'FROM node:24-slim\nRUN echo before && exit 7\n' },
    /service api failed \(exit code 1\)[^]*exit code: 7/,
  ],
  [
    'a service file with an unknown key',
    { 'compose.yaml': 'services:\n  web:\n    build: ./web\n    imagee: x\n' },
    /compose\.yaml:4:5: services\.web\.imagee: .*image/,
  ],
  ['a service file that is not YAML', { 'compose.yaml': 'services:\n  web: [\n' }, /compose\.yaml:\d+:\d+: /],
];

test.each(broken)(
  '%s is told, and can be mended and built again',
  async (what, files, words) => {
    const branch = what.replace(/\W+/g, '-');
    await harness.push('shop', branch, files);
    const id = await harness.spawn(repository, branch);
    const environment = await harness.stalled(id);
    expect(environment.status).toBe('created');
    expect(conditionOf(environment, 'Built')?.message).toMatch(words);
    const end = { result: 'failed', message: expect.stringMatching(words) };
    expect(await harness.endOfLog(id)).toMatchObject({ end });

    await harness.push('shop', branch, { 'web/title.txt': `Mended: ${branch}\n` });
    expect((await harness.client.send('POST', `/api/environment/${id}/build`)).status).toBe(202);
    const { weburl } = await harness.built(id);
    await pageWith(weburl, `Mended: ${branch}`);
  },
  300_000,
);
