import { randomUUID } from 'node:crypto';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { requestAnnotation, requestValue } from '../../crds/requests.ts';
import { EndpointSlice } from '../../kubernetes/resource-type.ts';
import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { randomName } from '../end-to-end/harness.ts';
import { atOnce } from './at-once.ts';
import { CLIENTS_AT_ONCE } from './bare-creation.ts';
import { addBenchGroups, addRepository, createEnvironment, environmentAt, targetsOf } from './bench-groups.ts';
import { benchIdle, settled } from './held.ts';
import { secondsOf, type Figure } from './measure.ts';
import { pushCommits } from './push-commits.ts';
import { WAKER_SLICES } from './waker-slices.ts';
import { withBench } from './with-bench.ts';

const groupCount = 4;

/** Public, and without pods also when it is awake. */
const compose = `services:
  web:
    image: busybox:1
    scale: 0
    ports: ['8080:8080']
`;

/** Returns a part that puts this many environments to sleep at once, and measures what they cost while nothing happens. */
export function benchSleeping(environments: number) {
  return (progress: Progress): Promise<Figure[]> =>
    withBench(progress, randomName('none'), async ({ harness, cluster, watch }) => {
      const { client } = cluster;
      const without = (await cluster.usage('coppice-waker')).map(({ memoryMiB }) => memoryMiB);
      const sizes = Array.from({ length: groupCount }, (_, index) => Math.ceil((environments - index) / groupCount));
      const groups = await addBenchGroups(harness, sizes);
      const targets = targetsOf(groups);
      await progress.step(`${environments} environments`, async () => {
        for (const { origin, branches } of groups) await pushCommits(origin, branches, 'compose.yaml', compose);
        for (const group of groups) await addRepository(client, group);
        const built = watch.allAt('built', targets, environments + 120);
        await Promise.all([built, atOnce(CLIENTS_AT_ONCE, targets, (target) => createEnvironment(client, target))]);
      });
      const seconds = await progress.step('all put to sleep', () =>
        secondsOf(async () => {
          await atOnce(CLIENTS_AT_ONCE, targets, async (target) => {
            const annotations = { [requestAnnotation('sleep')]: requestValue(new Date(), randomUUID()) };
            await client.patch(ENVIRONMENT, environmentAt(target), { metadata: { annotations } });
          });
          const isAsleep = (one: Environment | undefined) => one?.status?.sleep?.asleep === true;
          for (const target of targets) await watch.until(target, isAsleep, 300);
          await waitFor('the waker to be behind all', 300, async () => {
            const { items } = await client.list(EndpointSlice, { labelSelector: WAKER_SLICES });
            return items.length >= environments ? true : undefined;
          });
        }),
      );
      await progress.step('until nothing is left to do', () => settled(cluster));
      const idle = await progress.step('idle', () => benchIdle(cluster, 'operator', 'waker'));
      const label = `${environments.toLocaleString('en')} sleeping environments`;
      const { operator, waker } = idle.used;
      return [
        {
          name: `${label}: writes a minute while idle, without Leases`,
          unit: '/min',
          samples: [idle.writesPerMinute],
          target: '0',
        },
        {
          name: `${label}: waker memory, per replica`,
          unit: 'MiB',
          samples: waker.memoryMiB,
          baseline: { name: 'without sleeping environments', samples: without },
        },
        { name: `${label}: waker CPU, per replica`, unit: 'ms/s', samples: waker.cpuMsPerSecond },
        { name: `${label}: operator memory`, unit: 'MiB', samples: operator.memoryMiB },
        { name: `${label}: all requested to sleep → asleep`, unit: 's', samples: [seconds] },
      ];
    });
}
