import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { groupNamespace } from '../../../crds/ids.ts';
import type { BuildLogMessage } from '../../../build-logs/message.ts';
import { waitFor } from '../../support/wait-for.ts';
import { StayingViewer } from '../../faults/staying-viewer.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { countedLog, numberedDockerfile, numberIn } from '../numbered-build.ts';
import { seededPage } from '../seeded-page.ts';
import { moveTo, podOf, powerOff, powerOn, readyPods, twoWorkers, whileCordoned, workerWithoutRedis } from './nodes.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('lost');
}, 60_000);

afterAll(() => {
  for (const viewer of viewers) viewer.stop();
  return harness.remove();
});

const viewers: StayingViewer[] = [];

/** Lines of the build that is under way. */
const lines = 400;
/** Kubernetes notices the loss after 50 s, and replaces pods of services 300 s later. */
const replacedWithinSeconds = 480;

const page = (text: string) => ({
  'compose.yaml': `services:
  web:
    image: busybox:1
    command: [sh, -c, 'mkdir /tmp/www && echo ${text} > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www']
    ports: ['8080:8080']
    stop_grace_period: 0s
`,
});

/** A volume that takes a while to copy. */
const stored = (extension: string) =>
  seededPage({
    extension,
    seed: 'dd if=/dev/zero of=/www/large bs=1M count=600 && echo stored > /www/index.html',
    size: '1Gi',
  });

test('everything returns to its desired state after the loss of a node', async () => {
  const { client, kubectl, group } = harness;
  const node = await workerWithoutRedis(kubectl);
  const [one, two] = await twoWorkers();
  const other = node === one ? two : one;
  const urls = {
    page: await harness.push('page', 'main', page('first')),
    numbered: await harness.push('numbered', 'main', { 'api/Dockerfile': numberedDockerfile(group, lines) }),
    stored: await harness.push('stored', 'main', stored('{ reusable: base }')),
  };
  await harness.push('stored', 'feature', stored('{ from: base }'));
  const repositories = {
    page: await harness.addRepository('page', urls.page),
    numbered: await harness.addRepository('numbered', urls.numbered),
    stored: await harness.addRepository('stored', urls.stored),
  };
  const reusable = [{ label: 'base', refs: [{ name: 'main', type: 'branch' }] }];
  await client.call(z.looseObject({}), 'POST', `/api/repository/${repositories.stored}/settings`, { reusable });

  // What is bound to a node is on the one that is lost: the volumes, the builder and its cache.
  const isPublished = (found: Parameters<typeof conditionOf>[0]) => conditionOf(found, 'Published')?.status === 'True';
  const { serving, publishing, building } = await whileCordoned(kubectl, other, async () => {
    const serving = await harness.spawn(repositories.page, 'main');
    const publishing = await harness.spawn(repositories.stored, 'main');
    await harness.built(serving);
    await client.waitForEnvironment(publishing, isPublished, 240);
    const building = await harness.spawn(repositories.numbered, 'main');
    await waitFor('the builder', 180, async () =>
      (await readyPods(kubectl, 'coppice-builders', `coppice.dev/builder=group-${group}`)).at(0),
    );
    return { serving, publishing, building };
  });
  const served = await podOf(kubectl, namespaceOf(serving), 'web');
  expect(served.node).toBe(node);
  const viewer = new StayingViewer(client, building);
  viewers.push(viewer);
  viewer.start();
  await waitFor('the build to write its lines', 240, async () => (viewer.number >= 20 ? true : undefined));
  // A rollout and a copy of a volume are under way, too.
  await harness.push('page', 'main', page('second'));
  await client.call(z.looseObject({}), 'POST', `/api/environment/${serving}/rebuild`);
  const copying = await harness.spawn(repositories.stored, 'feature');
  const isCopying = (found: Parameters<typeof conditionOf>[0]) => conditionOf(found, 'Seeded')?.reason === 'Copying';
  await client.waitForEnvironment(copying, isCopying, 60);

  const pageUrl = (await client.environment(serving)).weburl;
  const shown = viewer.number;
  expect(shown).toBeLessThan(lines);
  await powerOff(node);
  const lost = Date.now();
  const reports: string[] = [];
  const report = (what: string) => reports.push(`${what} after ${((Date.now() - lost) / 1000).toFixed(0)} s`);

  try {
    await Promise.all([
      pageWith(pageUrl, 'second', replacedWithinSeconds).then(() => report('the page was served from the other node')),
      isBuilt(building, replacedWithinSeconds).then(async () => {
        report('the build ended');
        await requireWholeLog(building, viewer, shown);
        report('the viewer had seen the whole log');
      }),
    ]);
    // The group's builder works again, with a new cache.
    await client.call(z.looseObject({}), 'POST', `/api/environment/${building}/rebuild`);
    await isBuilt(building, 300);
    report('another build ended');
  } finally {
    await powerOn(kubectl, node);
    report('the node was Ready again');
    console.log(reports.join('\n'));
  }
  const back = Date.now();
  // Data of local volumes exists only there.
  await isBuilt(copying, 300);
  await pageWith((await client.environment(copying)).weburl, 'stored', 120);
  await pageWith((await client.environment(publishing)).weburl, 'stored', 120);
  expect((await podOf(kubectl, namespaceOf(copying), 'web')).node).toBe(node);
  console.log(`volumes, their copy and their services were there ${((Date.now() - back) / 1000).toFixed(0)} s later`);
  await requireNoOrphans([serving, publishing, building, copying]);
  // The node can run pods again.
  expect((await moveTo(kubectl, node, namespaceOf(serving), 'web')).node).toBe(node);
}, 1_800_000);

/**
 * Waits until the environment is built. Until the loss is noticed, the Ingress controller sends half of the requests to
 * the lost replica of the API.
 */
async function isBuilt(id: string, seconds: number): Promise<void> {
  await waitFor(`${id} to be built`, seconds, async () => {
    const { status, conditions } = await harness.client.environment(id);
    if (status === 'built') return true;
    throw new Error(`${status}: ${JSON.stringify(conditions)}`);
  });
}

/** Verifies that the viewer has seen the stored log: every line that it was shown, and the whole last attempt. */
async function requireWholeLog(id: string, viewer: StayingViewer, shown: number): Promise<void> {
  const messages: BuildLogMessage[] = [];
  for await (const message of harness.client.log(id)) messages.push(message);
  assert.deepEqual(await viewer.seen(), messages);
  const { found, expected } = countedLog(messages, lines);
  const first = messages.flatMap((message) => numberIn(message) ?? []).slice(0, shown);
  assert.deepEqual(first, expected.numbers.slice(0, shown));
  found.numbers = found.numbers.slice(found.numbers.lastIndexOf(1));
  assert.deepEqual(found, expected);
}

/** Verifies that exactly these environments have namespaces, and no pod is left in deletion. */
async function requireNoOrphans(ids: readonly string[]): Promise<void> {
  const { kubectl, group } = harness;
  const label = ['--selector', `coppice.dev/group=${group}`];
  await waitFor('the namespaces of the environments, and no other', 60, async () => {
    const names = await kubectl(['get', 'namespaces', ...label, '--output', 'jsonpath={.items[*].metadata.name}']);
    const found = names.split(' ').filter((name) => name.startsWith('env-') && name !== groupNamespace(group));
    assert.deepEqual(found.toSorted(), ids.map(namespaceOf).toSorted());
    return true;
  });
  await waitFor('all deleted pods to be gone', 120, async () => {
    const deleted = 'jsonpath={.items[*].metadata.deletionTimestamp}';
    const left = await kubectl(['get', 'pods', '--all-namespaces', ...label, '--output', deleted]);
    return left.trim() === '' ? true : undefined;
  });
}
