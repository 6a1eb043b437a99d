import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BuildLogMessage } from '../../../build-logs/message.ts';
import { run } from '../../support/run.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';
import { countedLog, numberIn, numberedDockerfile } from '../numbered-build.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('kill');
  // The kubelet delays each further restart of a pod, so earlier kills must not count here.
  const deployment = ['deployment/coppice-operator', '--namespace', 'coppice-system'];
  await harness.kubectl(['rollout', 'restart', ...deployment]);
  await harness.kubectl(['rollout', 'status', ...deployment, '--timeout=60s'], { deadline: 70 });
}, 120_000);

afterAll(() => harness.remove(), 60_000);

test('completes a build during which the operator is killed, with every log line once', async () => {
  const origin = await harness.push('shop', 'main', { 'api/Dockerfile': numberedDockerfile(harness.group) });
  const id = await harness.spawn(await harness.addRepository('shop', origin), 'main');
  const messages: BuildLogMessage[] = [];
  let kills = 0;
  for await (const message of harness.client.log(id)) {
    messages.push(message);
    const number = numberIn(message);
    if (number === 20 || number === 70) {
      kills += 1;
      await run('docker', ['exec', 'coppice-control-plane', 'pkill', '-KILL', '--full', 'node operator/main.ts']);
    }
  }
  expect({ kills, end: messages.at(-1) }).toMatchObject({ kills: 2, end: { end: { result: 'succeeded' } } });
  const { found, expected } = countedLog(messages);
  expect(found).toEqual(expected);
  expect(messages.at(-1)).toMatchObject({ end: { result: 'succeeded' } });
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'Hello from the API');
}, 300_000);
