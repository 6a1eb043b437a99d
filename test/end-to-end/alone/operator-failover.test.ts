import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../cluster/wait-for.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';
import { smallPage } from '../small-page.ts';

const system = ['--namespace', 'coppice-system'];
const deployment = 'deployment/coppice-operator';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('failover');
  await scale(2);
}, 180_000);

afterAll(async () => {
  await scale(1);
  await harness.remove();
}, 180_000);

async function scale(replicas: number): Promise<void> {
  await harness.kubectl(['scale', deployment, `--replicas=${replicas}`, ...system]);
  await harness.kubectl(['rollout', 'status', deployment, '--timeout=120s', ...system], { deadline: 130 });
}

/** The name of the pod that leads; a process names itself by its host, which is its pod. */
async function leader(): Promise<string> {
  const holder = ['get', 'lease', 'coppice-operator', ...system, '--output', 'jsonpath={.spec.holderIdentity}'];
  const [pod = ''] = (await harness.kubectl(holder)).split('_');
  return pod;
}

test('of two operators the other leads within 20 s of the end of the first without a word, and builds', async () => {
  const origin = await harness.push('shop', 'main', smallPage('led by another'));
  const repository = await harness.addRepository('shop', origin);
  const first = await leader();
  await harness.kubectl(['delete', 'pod', first, ...system, '--grace-period=0', '--force', '--wait=false']);
  const ended = Date.now();
  await waitFor('another operator to lead', 40, async () => ((await leader()) === first ? undefined : true));
  expect(Date.now() - ended).toBeLessThan(20_000);
  const { weburl } = await harness.built(await harness.spawn(repository, 'main'));
  await pageWith(weburl, 'led by another');
}, 240_000);
