import type { Harness } from '../end-to-end/harness.ts';
import { atOnce } from './at-once.ts';
import { addBenchGroups, addRepository, createEnvironment, targetsOf, type Target } from './bench-groups.ts';
import type { Bench } from './held.ts';
import { pushCommits } from './push-commits.ts';

/** Environments of the harness's own group. */
export const FEW = 10;
const groupCount = 10;
const clientsAtOnce = 32;

/** Environments to create in groups of the harness's user. They are `empty`: only custom resources. */
export interface EmptyEnvironments {
  /** The names of all groups, the harness's first. */
  groups: string[];
  /** The few of the harness's group. */
  own: Target[];
  /** Those of the other groups. */
  others: Target[];
  /** Number of environments of each other group. */
  size: number;
  /** Creates some of them, and waits until they are reconciled. */
  create: (some: readonly Target[]) => Promise<void>;
}

/** Adds ten groups with a repository each, for this many environments together. */
export async function addEmptyEnvironments(
  { progress, cluster, watch }: Bench,
  harness: Harness,
  environments: number,
): Promise<EmptyEnvironments> {
  const size = Math.ceil((environments - FEW) / (groupCount - 1));
  const groups = await addBenchGroups(harness, [FEW, ...Array.from({ length: groupCount - 1 }, () => size)]);
  await progress.step(`${groupCount} groups`, async () => {
    for (const { origin } of groups) await pushCommits(origin, ['main'], 'compose.yaml', 'services: {}\n');
    for (const group of groups) await addRepository(cluster.client, group);
  });
  const isOwn = ({ group }: Target) => group === harness.group;
  const targets = targetsOf(groups);
  return {
    groups: groups.map(({ name }) => name),
    own: targets.filter(isOwn),
    others: targets.filter((target) => !isOwn(target)),
    size,
    async create(some) {
      const made = watch.allAt('empty', some, 1800);
      const creating = atOnce(clientsAtOnce, some, (target) =>
        createEnvironment(cluster.client, target, { active: false }),
      );
      await Promise.all([made, creating]);
    },
  };
}
