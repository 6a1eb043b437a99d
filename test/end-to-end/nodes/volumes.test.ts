import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { seededPage } from '../seeded-page.ts';
import { ofService, podOf, whileCordoned } from './nodes.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('bound');
}, 60_000);

afterAll(() => harness.remove());

/** Returns a page whose text the seed of its volume has chosen randomly. */
const randomPage = (extension: string) =>
  seededPage({
    extension,
    seed: 'echo "drawn: $$(cat /proc/sys/kernel/random/uuid)" > /www/index.html',
    size: '16Mi',
  });

const drawn = async (weburl: string) => /drawn: (\S+)/.exec(await pageWith(weburl, 'drawn: ', 60))?.[1] ?? '';

test('a service stays on the node of its volume, and so do copies of it', async () => {
  const { client, kubectl } = harness;
  const url = await harness.push('shop', 'main', randomPage('{ reusable: base }'));
  await harness.push('shop', 'feature', randomPage('{ from: base }'));
  const repository = await harness.addRepository('shop', url);
  const reusable = [{ label: 'base', refs: [{ name: 'main', type: 'branch' }] }];
  await client.call(z.looseObject({}), 'POST', `/api/repository/${repository}/settings`, { reusable });
  const main = await harness.spawn(repository, 'main');
  const isPublished = (one: Parameters<typeof conditionOf>[0]) => conditionOf(one, 'Published')?.status === 'True';
  const { weburl } = await client.waitForEnvironment(main, isPublished, 240);
  const text = await drawn(weburl);
  const pod = await podOf(kubectl, namespaceOf(main), 'web');

  // Neither the service nor a copy of its volume runs elsewhere.
  let feature = '';
  await whileCordoned(kubectl, pod.node, async () => {
    await kubectl(['--namespace', namespaceOf(main), 'delete', 'pod', pod.name], { deadline: 60 });
    feature = await harness.spawn(repository, 'feature');
    const isCopying = (one: Parameters<typeof conditionOf>[0]) => conditionOf(one, 'Seeded')?.reason === 'Copying';
    await client.waitForEnvironment(feature, isCopying, 120);
    const web = ['--namespace', namespaceOf(main), '--selector', ofService('web')];
    const states = ['get', 'pods', ...web, '--output', 'jsonpath={.items[*].status.phase}'];
    await waitFor('the pod to wait for its node', 60, async () =>
      (await kubectl(states)).trim() === 'Pending' ? true : undefined,
    );
  });
  expect((await podOf(kubectl, namespaceOf(main), 'web')).node).toBe(pod.node);
  expect(await drawn(weburl)).toBe(text);
  const copied = await harness.built(feature);
  expect(conditionOf(copied, 'Seeded')?.reason).toBe('Copied');
  expect(await drawn(copied.weburl)).toBe(text);
  expect((await podOf(kubectl, namespaceOf(feature), 'web')).node).toBe(pod.node);
}, 900_000);
