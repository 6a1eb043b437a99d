import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { firstRecovery, recoversAt } from './recovery.ts';

/** Returns the time in seconds after the restart of the containers. */
const at = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);
const running = { running: { startedAt: at(0).toISOString() } };

function pod(state: object, { restartCount = 1, phase = 'Running', readinessProbe = {}, beside = {} } = {}): Pod {
  const containers = [{ name: 'web', ...readinessProbe }, { name: 'beside' }];
  const own = { name: 'web', restartCount, state };
  return {
    metadata: { name: 'p', labels: { 'coppice.dev/service': 'web' } },
    spec: { containers },
    status: { phase, containerStatuses: [{ name: 'beside', restartCount: 0, ...beside }, own] },
  } as unknown as Pod;
}

test.each<[string, Pod, number, number | undefined]>([
  ['it runs again for less than 10 s', pod(running), 9, at(10).getTime()],
  ['it runs again for 10 s', pod(running), 10, undefined],
  ['it waits for its restart', pod({ waiting: { reason: 'CrashLoopBackOff' } }), 30, Infinity],
  ['it has just crashed', pod({ terminated: { exitCode: 1 } }), 30, Infinity],
  ['it has crashed for the first time', pod({ terminated: { exitCode: 1 } }, { restartCount: 0 }), 1, Infinity],
  ['its node has a clock that is a minute ahead', pod(running), -60, undefined],
  ['it was never restarted', pod(running, { restartCount: 0 }), 1, undefined],
  ['it has a probe', pod(running, { readinessProbe: { readinessProbe: {} } }), 1, undefined],
  ['it was evicted', pod({ terminated: { exitCode: 137 } }, { phase: 'Failed' }), 30, undefined],
  [
    'only a container beside it was restarted',
    pod(running, { restartCount: 0, beside: { restartCount: 1, state: running } }),
    1,
    undefined,
  ],
])('when %s', (_what, observed, seconds, expected) => {
  expect(recoversAt(observed, at(seconds))).toBe(expected);
});

test('the first of two replicas that recover is next', () => {
  const later = pod({ running: { startedAt: at(5).toISOString() } });
  const waiting = pod({ waiting: { reason: 'CrashLoopBackOff' } });
  expect(firstRecovery([later, pod(running), waiting], at(6))).toEqual(at(10));
  expect(firstRecovery([later, pod(running), waiting], at(10))).toEqual(at(15));
  expect(firstRecovery([waiting], at(10))).toBeUndefined();
});
