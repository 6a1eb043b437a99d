import { expect, test } from '@jest/globals';
import type { Group } from '../../../crds/group.ts';
import type { Namespace } from '../../../kubernetes/resource-type.ts';
import { GroupMembership } from './group-membership.ts';

const acme: Group = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Group',
  metadata: { name: 'acme', uid: 'u' },
  spec: { members: [] },
};
const namespace = (metadata: Partial<Namespace['metadata']>): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'group-acme', ...metadata },
});
const made = namespace({ annotations: { 'coppice.dev/owner-uid': 'u' } });
const offered = namespace({ labels: { 'coppice.dev/group': 'acme' } });

test.each<[string, string, Group | undefined, Namespace | undefined, string | undefined]>([
  ['created by the operator', 'group-acme', acme, made, undefined],
  ['that an administrator labelled', 'group-acme', acme, offered, undefined],
  ['of another name', 'shop', acme, undefined, 'create the object in the namespace group-NAME of a Group NAME'],
  ['without a Group', 'group-acme', undefined, offered, 'create the Group acme'],
  ['that does not exist yet', 'group-acme', acme, undefined, 'the Group acme reports why it does not own it'],
  ['that was not labelled', 'group-acme', acme, namespace({}), 'the Group acme reports why it does not own it'],
  [
    'of a former Group of the name',
    'group-acme',
    acme,
    namespace({ annotations: { 'coppice.dev/owner-uid': 'v' }, labels: { 'coppice.dev/group': 'acme' } }),
    'the Group acme reports why it does not own it',
  ],
])('a namespace %s', (_what, name, group, held, expected) => {
  const membership = new GroupMembership({ get: () => group }, { get: () => held });
  const problem = membership.problem(name);
  expect(problem?.message).toBe(expected && `the namespace ${name} does not belong to a Group: ${expected}`);
});
