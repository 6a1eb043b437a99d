import { expect, test } from '@jest/globals';
import type { Group } from '../../../crds/group.ts';
import { roleBindings } from './objects.ts';

const group: Group = {
  apiVersion: 'v',
  kind: 'Group',
  metadata: { name: 'acme' },
  spec: { members: ['alice@example.com'] },
};
const apiServiceAccount = { namespace: 'coppice-system', name: 'coppice-api' };

test('binds members and the API to a role each, only in the namespace of the group', () => {
  const bindings = roleBindings(group, { member: 'look', api: 'keep', apiServiceAccount });
  expect(bindings.map(({ metadata, roleRef, subjects }) => [metadata.namespace, roleRef.name, subjects])).toEqual([
    ['group-acme', 'look', [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice@example.com' }]],
    ['group-acme', 'keep', [{ kind: 'ServiceAccount', ...apiServiceAccount }]],
  ]);
});
