import { randomName, type Harness } from '../end-to-end/harness.ts';
import type { Progress } from '../support/progress.ts';
import { addBenchGroups, addRepository, targetsOf, resume } from './bench-groups.ts';
import { benchCreation } from './creation.ts';
import { benchHeld, type Bench } from './held.ts';
import type { Figure } from './measure.ts';
import { pushCommits } from './push-commits.ts';
import { onSeparateCores } from './separate-cores.ts';
import { withBench } from './with-bench.ts';

/** Number of groups that share the operator's workers. */
const groupCount = 4;

/** Becomes ready immediately and runs nothing: an environment with all objects except pods. */
export const TWO_SERVICES = `services:
  web:
    image: busybox:1
    scale: 0
    ports: ['8080']
    environment: { DATABASE: db }
    depends_on: [db]
  db:
    image: busybox:1
    scale: 0
    expose: ['5432']
`;

/**
 * Like `TWO_SERVICES`, but without work for the Ingress controller and kube-proxy, which process all of their objects at
 * each change.
 */
const withoutPorts = `services:
  worker:
    image: busybox:1
    scale: 0
`;

interface ScaleOptions {
  /** Deleting ten thousand takes as long as creating them. */
  keep?: boolean | undefined;
  small?: boolean;
  /** Whether only the creation is measured, while Coppice, or the plain client, does not share its core with the cluster. */
  separateCores?: boolean;
}

/** Returns a part that creates this many environments at once. */
export function benchScale(environments: number, options: ScaleOptions = {}) {
  const { keep = false, small = false, separateCores = false } = options;
  return (progress: Progress): Promise<Figure[]> => {
    const prefix = randomName('raw');
    const measure = async ({ harness, ...bench }: Bench & { harness: Harness }) => {
      const { cluster } = bench;
      const sizes = Array.from({ length: groupCount }, (_, index) => Math.ceil((environments - index) / groupCount));
      const groups = await addBenchGroups(harness, sizes);
      await progress.step(`${groupCount} groups, a commit for each of ${environments} branches`, async () => {
        for (const group of groups)
          await pushCommits(group.origin, group.branches, 'compose.yaml', small ? withoutPorts : TWO_SERVICES);
        for (const group of groups) await addRepository(cluster.client, group);
      });
      const label = `${environments.toLocaleString('en')} ${small ? 'small ' : ''}environments`;
      const create = () => benchCreation(bench, groups, prefix, label);
      if (separateCores) return onSeparateCores(create);
      const created = await create();
      for (const group of groups) await resume(cluster.client, group);
      return [...created, ...(await benchHeld(bench, targetsOf(groups), label))];
    };
    return withBench(progress, prefix, measure, { keep });
  };
}
