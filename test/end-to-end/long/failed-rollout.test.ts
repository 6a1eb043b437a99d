import { afterAll, beforeAll, expect } from '@jest/globals';
import { logOf } from '../fixtures.ts';
import { conditionOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { testsSideBySide } from '../side-by-side.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('rollout');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
}, 60_000);

afterAll(() => harness.remove(), 60_000);

testsSideBySide(
  {
    'reports a service that does not become ready with its last output, and deploys it after a fix': reportsAndRecovers,
    'keeps the last successful build running after a failed one': keepsLastGood,
    'reports a failed health check with its output, also of a program that exits with 0': reportsHealthCheck,
    'ends the rollout long before its deadline if an image is missing': endsEarly,
  },
  420_000,
);

async function reportsAndRecovers(): Promise<void> {
  await harness.push('shop', 'crashing', { 'web/server.mjs': 'console.log("cannot start"); process.exit(3);\n' });
  const id = await harness.spawn(repository, 'crashing');
  const environment = await harness.stalled(id);
  expect(environment.status).toBe('created');
  expect(conditionOf(environment, 'Built')).toMatchObject({
    reason: 'RolloutFailed',
    message: expect.stringMatching(
      /not ready after \d+ s(, and more time would not help)?: web: .*exit code 3: cannot start/,
    ),
  });
  const log = await logOf(harness, id);
  expect(log).toContain('the last lines that web wrote before it exited');
  expect(log.split('\n')).toContain('cannot start');
  await harness.push('shop', 'crashing', { 'web/title.txt': 'Fixed\n' });
  await harness.client.send('POST', `/api/environment/${id}/build`);
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'Fixed');
}

async function reportsHealthCheck(): Promise<void> {
  const test = '[CMD-SHELL, "echo no database yet; exit 1"]';
  const file = `services:\n  web:\n    build: .\n    healthcheck: { test: ${test}, interval: 1s, retries: 4 }\n`;
  const command = "CMD trap 'exit 0' TERM; while true; do sleep 0.2; done\n";
  await harness.push('shop', 'ill', { 'compose.yaml': file, Dockerfile: `FROM busybox:1\n${command}` });
  const environment = await harness.stalled(await harness.spawn(repository, 'ill'));
  expect(conditionOf(environment, 'Built')?.message).toMatch(
    // If the container has just restarted at the deadline, the message starts with its current state.
    /web: (it runs, but is not ready: .*; before, )?it was restarted because its health check \(.*\) did not succeed in time: no database yet/,
  );
}

async function endsEarly(): Promise<void> {
  const file = 'services:\n  web: { image: "busybox:no-such-tag" }\n';
  await harness.push('shop', 'missing', { 'compose.yaml': file });
  const environment = await harness.stalled(await harness.spawn(repository, 'missing'));
  expect(conditionOf(environment, 'Built')?.message).toMatch(
    /not ready after \d+ s, and more time would not help: web: its image busybox:no-such-tag cannot be pulled/,
  );
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
