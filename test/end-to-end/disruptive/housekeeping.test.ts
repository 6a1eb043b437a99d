import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { HOUSEKEEPING_CONFIG_MAP } from '../../../operator/kinds/housekeeping/record-store.ts';
import { HOUSEKEEPING_TASKS, readRecord, recordText } from '../../../operator/kinds/housekeeping/record.ts';
import { readConnection } from '../../cluster/connection.ts';
import { kubectlOf } from '../../cluster/kubectl.ts';
import { waitFor } from '../../support/wait-for.ts';

const kubectl = kubectlOf(readConnection());
const ofSystem = ['--namespace', 'coppice-system'];
const hourMs = 3600_000;

async function stored(task: string) {
  const text = await kubectl(['get', 'configmap', HOUSEKEEPING_CONFIG_MAP, ...ofSystem, '--output', 'json']);
  const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(JSON.parse(text));
  return readRecord(data[task]);
}

test('shows when each task runs next', async () => {
  for (const task of HOUSEKEEPING_TASKS) {
    const record = await waitFor(`the task ${task} to be planned`, 60, () => stored(task));
    expect(record.nextRun.getTime()).toBeGreaterThan(Date.now() - hourMs);
    expect(record.schedule).toMatch(/^\S+( \S+){4}$/);
  }
});

test('makes up a run that was missed while no operator led', async () => {
  const before = await waitFor('the task to be planned', 60, () => stored('logs'));
  const missed = recordText({ ...before, nextRun: new Date(Date.now() - 3 * hourMs) });
  const deployment = ['deployment/coppice-operator', ...ofSystem];
  const replicas = await kubectl(['get', ...deployment, '--output', 'jsonpath={.spec.replicas}']);
  await kubectl(['scale', ...deployment, '--replicas=0']);
  try {
    await kubectl(['rollout', 'status', ...deployment, '--timeout=60s'], { deadline: 70 });
    await kubectl([
      ...['patch', 'configmap', HOUSEKEEPING_CONFIG_MAP, ...ofSystem, '--type=merge'],
      ...['--patch', JSON.stringify({ data: { logs: missed } })],
    ]);
  } finally {
    await kubectl(['scale', ...deployment, `--replicas=${replicas}`]);
  }
  const started = Date.now();
  const after = await waitFor('the missed run', 90, async () => {
    const record = await stored('logs');
    return record && record.nextRun > new Date() ? record : undefined;
  });
  expect(after.lastRun).toMatchObject({
    outcome: 'succeeded',
    message: expect.stringMatching(/^\d+ build logs deleted/),
  });
  expect(after.lastRun?.at.getTime()).toBeGreaterThan(started - 5000);
  expect(after.nextRun.getTime()).toBeLessThanOrEqual(Date.now() + hourMs);
}, 240_000);
