import { expect, test } from '@jest/globals';
import { rolloutDeadline } from './rollout-failure.ts';

const startedAt = '2026-01-01T00:00:00Z';
const after = (seconds: number) => new Date(Date.parse(startedAt) + seconds * 1000);
const build = { rolloutStartedAt: startedAt };

test('returns when to requeue before the deadline', () => {
  const progress = { waitingFor: ['web'], jobsEndAt: undefined, outlook: undefined };
  expect(rolloutDeadline(build, progress, 90, after(30))).toEqual({ givesUpAt: after(90), requeueAfterMs: 60_000 });
});

test.each([
  ['web: exit code 3', 'not ready after 90 s: web: exit code 3'],
  [
    'web',
    'not ready after 90 s: web: its pods show no reason. Build again and, if that fails too, ask an administrator to check the nodes',
  ],
])('reports a service that waits as %j at the deadline', (waiting, message) => {
  const progress = { waitingFor: [waiting], jobsEndAt: undefined, outlook: undefined };
  expect(() => rolloutDeadline(build, progress, 90, after(90))).toThrow(
    expect.objectContaining({ reason: 'RolloutFailed', message }),
  );
});
