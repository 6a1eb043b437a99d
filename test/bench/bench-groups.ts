import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { FINALIZER } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { waitFor } from '../support/wait-for.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';

const repositoryName = 'app';

/** One group of a benchmark: a Repository, and its branches. */
export interface BenchGroup {
  name: string;
  origin: string;
  branches: string[];
}

/** Identifies an Environment to create. */
export interface Target {
  group: string;
  branch: string;
}

/** Distributes branches over the harness's group and further groups; pushes nothing yet. */
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

/** Adds a suspended Repository, so that no sync creates or deletes Environments before the benchmark does. */
export async function addRepository(client: ClusterClient, { name, origin }: BenchGroup): Promise<void> {
  const repository: Repository = {
    apiVersion: GROUP_VERSION,
    kind: REPOSITORY.kind,
    metadata: { name: repositoryName, namespace: groupNamespace(name) },
    spec: { type: 'generic', generic: { origin }, suspend: true },
  };
  await waitFor(`the namespace of ${name}`, 60, () => client.create<Repository>(REPOSITORY, repository));
}

/** Resumes the Repository's syncs. */
export async function resume(client: ClusterClient, { name }: BenchGroup): Promise<void> {
  const at = { name: repositoryName, namespace: groupNamespace(name) };
  await client.patch(REPOSITORY, at, { spec: { suspend: false } });
}

/** Returns the targets alternating between groups, so that all groups have work from the start. */
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

/** Creates the Environment with a finalizer, as the REST API and a Repository's syncs do. */
export async function createEnvironment(client: ClusterClient, target: Target, spec: object = {}): Promise<void> {
  const environment: Environment = {
    apiVersion: GROUP_VERSION,
    kind: ENVIRONMENT.kind,
    metadata: { ...environmentAt(target), finalizers: [FINALIZER] },
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
