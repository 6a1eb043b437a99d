import { expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import type { Group } from '../../../crds/group.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { ANNOTATIONS } from '../../../crds/labels.ts';
import type { Repository } from '../../../crds/repository.ts';
import { ObjectStore } from '../../../kubernetes/object-store.ts';
import { ENVIRONMENT_INDEXES } from '../../shared/environment-keys.ts';
import { EnvironmentAllowance } from './environment-allowance.ts';

const apiVersion = 'coppice.dev/v1alpha1';
const repository = (group: string, name = 'shop'): Repository => ({
  apiVersion,
  kind: 'Repository',
  metadata: { namespace: groupNamespace(group), name },
  spec: { type: 'generic', generic: { origin: 'https://git.example/a.git' } },
});

/** @param there number of Environments of each `group/repository`; @param creators accounts that created the groups. */
function allowance(there: Record<string, number>, creators: Record<string, string>) {
  const environments = new ObjectStore<Environment>({
    ...ENVIRONMENT_INDEXES,
    namespace: ({ metadata }) => [metadata.namespace ?? ''],
  });
  for (const [where, count] of Object.entries(there)) {
    const [group = '', name = ''] = where.split('/');
    for (let number = 0; number < count; number++) {
      const metadata = { namespace: groupNamespace(group), name: `${name}-${number}` };
      const gitRef = { type: 'branch', name: `b${number}` } as const;
      const spec = { repository: name, gitRef, active: false, buildOnCreate: true };
      environments.set(`${group}/${metadata.name}`, { apiVersion, kind: 'Environment', metadata, spec });
    }
  }
  const groups = Object.keys({ gitops: '', ...creators }).map((name): Group => {
    const creator = creators[name];
    const annotations = creator === undefined ? undefined : { [ANNOTATIONS.createdBy]: creator };
    return {
      apiVersion,
      kind: 'Group',
      metadata: { name, ...(annotations && { annotations }) },
      spec: { members: [] },
    };
  });
  return new EnvironmentAllowance({
    groups: { list: () => groups, get: (key) => groups.find(({ metadata }) => metadata.name === key) },
    environments,
    perRepository: 10,
    perAccount: 25,
  });
}

const creators = { one: 'alice', two: 'alice', rival: 'bob' };

test.each<[string, Record<string, number>, string, number]>([
  ['the limit of one repository', {}, 'one', 10],
  ['its own environments do not reduce the limit', { 'one/shop': 10 }, 'one', 10],
  ['less if the account has many in other repositories', { 'one/tools': 10, 'two/shop': 9 }, 'one', 6],
  ['none if the account has used its limit elsewhere', { 'one/tools': 20, 'two/shop': 20 }, 'one', 0],
  ['other accounts have their own limit', { 'one/tools': 20, 'two/shop': 20 }, 'rival', 10],
  ['a group that no account created is bounded by repository', { 'gitops/tools': 30 }, 'gitops', 10],
])('%s', (_what, there, group, expected) => {
  expect(allowance(there, creators).of(repository(group))).toBe(expected);
});
