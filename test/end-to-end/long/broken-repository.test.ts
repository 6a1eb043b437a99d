import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { pushLiteralTree } from '../push-literal-tree.ts';
import { testsSideBySide } from '../side-by-side.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('broken');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

test('reports a missing branch in the conditions and the log', async () => {
  const id = await harness.spawn(repository, 'nowhere');
  const environment = await harness.stalled(id);
  expect(conditionOf(environment, 'Stalled')).toMatchObject({
    reason: 'RefNotFound',
    message:
      'the branch nowhere is not in the repository. Push it, then request a build; or delete the environment and correct the name',
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

testsSideBySide(
  Object.fromEntries(
    broken.map(([what, files, words]) => [
      `${what} is reported, and can be fixed and built again`,
      () => reportsAndRecovers(what, files, words),
    ]),
  ),
  300_000,
);

async function reportsAndRecovers(what: string, files: Record<string, string>, words: RegExp): Promise<void> {
  const branch = what.replace(/\W+/g, '-');
  await harness.push('shop', branch, files);
  const id = await harness.spawn(repository, branch);
  const environment = await harness.stalled(id);
  // Services are set up only from a readable file.
  expect(environment.status).toBe(what.startsWith('a Dockerfile') ? 'created' : 'empty');
  expect(conditionOf(environment, 'Built')?.message).toMatch(words);
  const end = { result: 'failed', message: expect.stringMatching(words) };
  expect(await harness.endOfLog(id)).toMatchObject({ end });

  await harness.push('shop', branch, { 'web/title.txt': `Fixed: ${branch}\n` });
  expect((await harness.client.send('POST', `/api/environment/${id}/build`)).status).toBe(202);
  const { weburl } = await harness.built(id);
  await pageWith(weburl, `Fixed: ${branch}`);
}

test('refuses a folder that exists again as a link, and builds nothing', async () => {
  const dockerfile = 'FROM node:24-slim\nCOPY . /context\nRUN ls -laR /context\n';
  const compose =
    'services:\n  web:\n    build: { context: ctx, dockerfile: ../other/Dockerfile }\n    ports: ["80"]\n';
  await pushLiteralTree(await harness.push('shop', 'main'), 'twice', [
    { mode: '100644', name: 'compose.yaml', content: compose },
    { mode: '40000', name: 'ctx', content: { file: 'hi' } },
    { mode: '120000', name: 'ctx', content: '/credentials' },
    { mode: '40000', name: 'other', content: { Dockerfile: dockerfile } },
  ]);
  const id = await harness.spawn(repository, 'twice');
  const environment = await harness.stalled(id);
  const words = '"ctx" is in the commit twice';
  expect(conditionOf(environment, 'Stalled')?.message).toContain(words);
  expect(await harness.endOfLog(id)).toMatchObject({
    end: { result: 'failed', message: expect.stringContaining(words) },
  });
  const jobs = await harness.kubectl(['get', 'jobs', '--namespace', namespaceOf(id), '--output', 'name']);
  expect(jobs.trim()).toBe('');
}, 120_000);
