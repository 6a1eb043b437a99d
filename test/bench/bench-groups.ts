import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';

const repositoryName = 'app';

/** One group's part of a benchmark: a Repository, and as many branches. */
export interface BenchGroup {
  name: string;
  origin: string;
  branches: string[];
}

/** What there is to be of one Environment. */
export interface Target {
  group: string;
  branch: string;
}

/** Spreads branches over the harness's group and as many more as there are to be; nothing is pushed yet. */
export async function addBenchGroups(harness: Harness, sizes: readonly number[]): Promise<BenchGroup[]> {
  const groups: BenchGroup[] = [];
  for (const [index, size] of sizes.entries()) {
    const name = index === 0 ? harness.group : randomName(harness.group);
    if (index > 0) await harness.addGroup(name);
    const branches = Array.from({ length: size }, (_, branch) => `b${String(branch).padStart(5, '0')}`);
    groups.push({ name, origin: `${harness.connection.gitUrl}/${name}/${repositoryName}.git`, branches });
  }
  return groups;
}

/** Suspended: no sync makes Environments of branches before the benchmark does, or takes away those without one. */
export async function addRepository(client: ClusterClient, { name, origin }: BenchGroup): Promise<void> {
  const repository: Repository = {
    apiVersion: GROUP_VERSION,
    kind: REPOSITORY.kind,
    metadata: { name: repositoryName, namespace: groupNamespace(name) },
    spec: { type: 'generic', generic: { origin }, suspend: true },
  };
  await waitFor(`the namespace of ${name}`, 60, () => client.create<Repository>(REPOSITORY, repository));
}

/** From now on its refs are looked at as any other's. */
export async function resume(client: ClusterClient, { name }: BenchGroup): Promise<void> {
  const at = { name: repositoryName, namespace: groupNamespace(name) };
  await client.patch(REPOSITORY, at, { spec: { suspend: false } });
}

/** In turn of each group, so that all of them have work from the first on. */
export function targetsOf(groups: readonly BenchGroup[]): Target[] {
  const maxCount = Math.max(0, ...groups.map(({ branches }) => branches.length));
  return Array.from({ length: maxCount }, (_, index) => index).flatMap((index) =>
    groups.flatMap(({ name, branches }) => {
      const branch = branches[index];
      return branch === undefined ? [] : [{ group: name, branch }];
    }),
  );
}

export function environmentAt({ group, branch }: Target): { namespace: string; name: string } {
  return { namespace: groupNamespace(group), name: `${repositoryName}-${branch}` };
}

/** Makes the Environment, as kubectl would. */
export async function createEnvironment(client: ClusterClient, target: Target, spec: object = {}): Promise<void> {
  const environment: Environment = {
    apiVersion: GROUP_VERSION,
    kind: ENVIRONMENT.kind,
    metadata: environmentAt(target),
    spec: {
      repository: repositoryName,
      gitRef: { name: target.branch, type: 'branch' },
      active: true,
      buildOnCreate: true,
      ...spec,
    },
  };
  await client.create<Environment>(ENVIRONMENT, environment);
}
