import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
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

/** Returns the name of the leading pod; a process is identified by its host name, which is that of the pod. */
async function leader(): Promise<string> {
  const holder = ['get', 'lease', 'coppice-operator', ...system, '--output', 'jsonpath={.spec.holderIdentity}'];
  const [pod = ''] = (await harness.kubectl(holder)).split('_');
  return pod;
}

test('lets the other operator lead within 20 s after the first was killed, and builds', async () => {
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
