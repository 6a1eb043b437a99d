import { afterAll, beforeAll, expect } from '@jest/globals';
import { objectOf } from '../../client/object-of.ts';
import { conditionOf, startHarness, type Harness } from '../harness.ts';
import { failingServicesFile, FAILING_SERVICES } from '../failing-services.ts';
import { testsSideBySide } from '../side-by-side.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('failing');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

testsSideBySide(
  {
    'reports each service that does not become ready with the reason and what to do, and by an Event':
      reportsEachService,
    'reports a failed job at once, with its last output': reportsJob,
  },
  420_000,
);

async function reportsEachService(): Promise<void> {
  await harness.push('shop', 'failing', { 'compose.yaml': failingServicesFile() });
  const id = await harness.spawn(repository, 'failing');
  const environment = await harness.stalled(id);
  const message = conditionOf(environment, 'Built')?.message ?? '';
  for (const { words } of Object.values(FAILING_SERVICES)) expect(message).toMatch(words);
  expect(message).not.toContain('fine:');
  const { namespace, name } = objectOf(id);
  const described = await harness.kubectl(['describe', 'environment', name, '--namespace', namespace]);
  const events = described.slice(described.lastIndexOf('\nEvents:'));
  for (const reason of ['Creating', 'Created', 'BuildStarted', 'ImagesReady'])
    expect(events).toMatch(new RegExp(`Normal +${reason} .* coppice.dev/operator `));
  expect(events).toMatch(/Warning +RolloutFailed .* build 1: not ready after \d+ s(, and more time would not help)?: /);
}

async function reportsJob(): Promise<void> {
  const command = 'command: [sh, -c, "echo no such table; exit 2"]';
  const file = `services:\n  migrate: { image: "busybox:1", restart: "no", ${command} }\n`;
  await harness.push('shop', 'unmigrated', { 'compose.yaml': file });
  const failed = await harness.stalled(await harness.spawn(repository, 'unmigrated'));
  expect(conditionOf(failed, 'Built')).toMatchObject({
    reason: 'JobFailed',
    message: expect.stringContaining('migrate: it has failed: exit code 2: no such table'),
  });
}
