import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { CheckOutputs, outputOf } from './check-outputs.ts';

test.each([
  ['Startup probe failed: HTTP probe failed with statuscode: 500', 'HTTP probe failed with statuscode: 500'],
  ['Readiness probe failed: two\nlines\n', 'two\nlines'],
  ['Liveness probe errored: rpc error: timed out', 'rpc error: timed out'],
  ['Startup probe errored and resulted in unknown state: command timed out', 'command timed out'],
  ['Startup probe failed: ', undefined],
  ['Container web failed startup probe, will be restarted', undefined],
  [undefined, undefined],
])('reads %j as %j', (note, output) => {
  expect(outputOf(note)).toBe(output);
});

const now = new Date('2026-01-01T00:01:00Z');
const event = (note: string, lastSeen: string, uid = 'u1') => ({
  metadata: { name: note },
  regarding: { kind: 'Pod', name: 'web-1', uid },
  reason: 'Unhealthy',
  note,
  deprecatedLastTimestamp: lastSeen,
});

function pod(status: object, containers: object[] = [{ startupProbe: { exec: { command: ['true'] } } }]): Pod {
  return {
    metadata: { namespace: 'env-x', name: 'web-1', uid: 'u1' },
    spec: { containers },
    status: { containerStatuses: [{ name: 'web', ready: false, restartCount: 0, ...status }] },
  } as unknown as Pod;
}

function world(items: object[]) {
  const asked: unknown[] = [];
  const list = (_type: unknown, options: unknown) => {
    asked.push(options);
    return Promise.resolve({ items });
  };
  return { outputs: new CheckOutputs({ list } as never), asked };
}

test('returns the output of the last failed check of the pod', async () => {
  const { outputs, asked } = world([
    event('Startup probe failed: second', '2026-01-01T00:00:50Z'),
    event('Startup probe failed: first', '2026-01-01T00:00:40Z'),
    event('Startup probe failed: of another pod', '2026-01-01T00:00:55Z', 'u2'),
  ]);
  expect(await outputs.of(pod({ restartCount: 1 }), now)).toBe('second');
  expect(asked).toEqual([
    {
      namespace: 'env-x',
      fieldSelector: 'reason=Unhealthy,regarding.kind=Pod,regarding.name=web-1',
      limit: 50,
    },
  ]);
});

test('is read once for each start, and again after a minute', async () => {
  const { outputs, asked } = world([]);
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  for (const [restartCount, seconds] of [
    [1, 0],
    [1, 59],
    [2, 59],
    [2, 60],
    [2, 120],
  ] as const) {
    await outputs.of(pod({ restartCount }), later(seconds));
  }
  expect(asked).toHaveLength(3);
});

test.each([
  ['has just started', pod({ state: { running: { startedAt: '2026-01-01T00:00:55Z' } } })],
  ['is ready', pod({ ready: true, restartCount: 3 })],
  ['has no check', pod({ restartCount: 3 }, [{}])],
  ['has only a TCP check', pod({ restartCount: 3 }, [{ readinessProbe: { tcpSocket: { port: 80 } } }])],
])('is not read from a pod that %s', async (_, given) => {
  const { outputs, asked } = world([]);
  expect(await outputs.of(given, now)).toBeUndefined();
  expect(asked).toEqual([]);
});

test('is read from a pod that has run for a while', async () => {
  const { outputs, asked } = world([event('Readiness probe failed: no', '2026-01-01T00:00:40Z')]);
  expect(await outputs.of(pod({ state: { running: { startedAt: '2026-01-01T00:00:50Z' } } }), now)).toBe('no');
  expect(asked).toHaveLength(1);
});
