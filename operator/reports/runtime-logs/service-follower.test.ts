import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { RuntimeLogTakenError } from '../../../build-logs/runtime-writer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { ServiceFollower } from './service-follower.ts';

const podOf = (name: string) =>
  ({
    metadata: { namespace: 'env-x', name, labels: { 'coppice.dev/service': 'web' } },
    status: { containerStatuses: [{ name: 'web', containerID: `containerd://${name}`, state: { running: {} } }] },
  }) as unknown as Pod;

/** Follows two pods that each write a line and continue; `refusals` are errors of the writer. */
function follow(refusals: { append?: Error; touch?: Error } = {}) {
  const failures: unknown[] = [];
  const lines: string[] = [];
  let following = 0;
  let closed = 0;
  const follower = new ServiceFollower({
    client: {
      podLog: async function* ({ name }, options) {
        yield `2026-01-01T00:00:00.000000000Z ${name}`;
        if (!options?.follow) return;
        following++;
        await delay(10_000, undefined, { signal: options.signal }).catch(() => undefined);
        following--;
      },
    },
    writer: {
      position: () => undefined,
      append: (_source, added) => {
        if (refusals.append) return Promise.reject(refusals.append);
        lines.push(...added.map(({ line }) => line));
        return Promise.resolve();
      },
      touch: () => (refusals.touch ? Promise.reject(refusals.touch) : Promise.resolve()),
      close: () => {
        closed++;
        return Promise.resolve();
      },
    },
    service: 'web',
    pods: () => [podOf('web-1'), podOf('web-2')],
    onFailed: (error) => failures.push(error),
    now: () => 0,
    logger: silentLogger,
  });
  return { follower, failures, lines, following: () => following, closed: () => closed };
}

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await delay(1);
}

const taken = new RuntimeLogTakenError('taken');
const away = new Error('Redis is away');

test.each<[string, { append?: Error; touch?: Error }, Error]>([
  ['another writes the log, though both pods find that out', { append: taken }, taken],
  ['readers cannot be reported that it is there', { touch: away }, away],
])('fails once when %s, and stops following', async (_, refusals, failure) => {
  const { follower, failures, following } = follow(refusals);
  await follower.start();
  await delay(20);
  follower.check();
  expect(failures).toEqual([failure]);
  expect(following()).toBe(0);
});

test('stops following and closes its log without a failure when stopped', async () => {
  const { follower, failures, following, lines, closed } = follow();
  await follower.start();
  expect(lines).toEqual(['web-1', 'web-2']);
  await until(() => following() === 2);
  await follower.stop();
  await until(() => following() === 0);
  expect([failures, closed()]).toEqual([[], 1]);
});
