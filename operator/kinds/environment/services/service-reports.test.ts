import { expect, test } from '@jest/globals';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { RESTARTS_MS, rolledOut, withQuietRestarts } from './service-reports.ts';

const ended = (second: number) => ({
  reason: 'Error',
  exitCode: second,
  finishedAt: new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString(),
});
const reported = { name: 'web', ready: true, restarts: 1, lastTermination: ended(10) };
const at = (second: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000);

test.each([
  ['not again within a minute', { ...reported, restarts: 2, lastTermination: ended(20) }, 20, reported],
  [
    'again after it',
    { ...reported, restarts: 2, lastTermination: ended(20) },
    70,
    { ...reported, restarts: 2, lastTermination: ended(20) },
  ],
  [
    'together with another change',
    { ...reported, ready: false, restarts: 2 },
    20,
    { ...reported, ready: false, restarts: 2 },
  ],
  ['unchanged, if there are no new ones', reported, 20, reported],
])('reports restarts %s', (_, now, second, expected) => {
  expect(withQuietRestarts(reported, now, at(second))).toEqual(expected);
});

test('reports the first restart at once', () => {
  const now = { name: 'web', ready: true, restarts: 1, lastTermination: ended(10) };
  expect(withQuietRestarts({ name: 'web', ready: true }, now, at(10))).toBe(now);
});

test('changes the status once a minute during many restarts', () => {
  let reported: EnvironmentStatus['services'];
  const statuses = new Set<string>();
  let isLeft = false;
  for (let second = 10; second <= 300; second += 10) {
    const services = [{ name: 'web', ready: true, restarts: second / 10, lastTermination: ended(second) }];
    const progress = { services, aliases: {}, done: true, waitingFor: [], failures: [], wakers: 'none' as const };
    const { status, requeueAfterMs } = rolledOut(reported, progress, at(second));
    reported = status?.services;
    isLeft = requeueAfterMs !== undefined;
    statuses.add(JSON.stringify(status));
  }
  expect(statuses.size).toBeLessThanOrEqual(300_000 / RESTARTS_MS + 1);
  expect(isLeft).toBe(true);
});

test('requeues until a restarted container has run long enough', () => {
  const services = [{ name: 'web', ready: false, restarts: 1, lastTermination: ended(10) }];
  const waiting = { services, aliases: {}, done: false, waitingFor: ['web'], failures: [], wakers: 'none' as const };
  const { requeueAfterMs } = rolledOut(undefined, { ...waiting, recoversAt: at(20) }, at(13));
  expect(requeueAfterMs).toBe(7000);
});
