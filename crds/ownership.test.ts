import { describe, expect, test } from '@jest/globals';
import { FIELD_MANAGERS, LABELS, MANAGED_BY } from './labels.ts';
import { appliedFieldIn, isAppliedByOthers, otherManager, withAppliers } from './ownership.ts';

const fieldsV1 = { 'f:spec': {} };
const flux = { manager: 'flux', operation: 'Apply', apiVersion: 'coppice.dev/v1alpha1', fieldsV1 };
const status = { manager: 'x', operation: 'Apply', subresource: 'status', fieldsV1 };
const api = { manager: 'coppice-api', operation: 'Update', fieldsV1 };

function object(managedFields?: unknown[]) {
  return { metadata: { name: 'x', ...(managedFields && { managedFields }) } };
}

describe('a cached object shows whether somebody applied it', () => {
  test.each<[string, unknown[] | undefined, boolean]>([
    ['a GitOps tool', [api, flux], true],
    ['nobody but Coppice', [api], false],
    ['nobody, although its status is applied', [status], false],
    ['nobody, without managed fields', undefined, false],
  ])('%s', (_who, managedFields, expected) => {
    expect(isAppliedByOthers(withAppliers(object(managedFields)))).toBe(expected);
  });
});

test('keeps no fields of managedFields in a cache, and nothing if nobody applied the object', () => {
  const kept = [{ manager: 'flux', operation: 'Apply' }];
  expect(withAppliers(object([api, flux])).metadata).toEqual({ name: 'x', managedFields: kept });
  expect(withAppliers(object([api, status])).metadata).toEqual({ name: 'x' });
});

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const own = { labels: { [LABELS.managedBy]: MANAGED_BY } };
const keeper = (manager: string) => ({
  manager,
  operation: 'Update',
  fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${lastApplied}`]: {} } }, 'f:spec': {} },
});

describe('the other field manager of an object', () => {
  test.each<[string, object, string | undefined]>([
    ['nobody, for an object that Coppice created', { ...own, managedFields: [api] }, undefined],
    ['the tool that applies an object that Coppice created', { ...own, managedFields: [api, flux] }, 'flux'],
    ['who created it otherwise', { managedFields: [{ ...api, manager: 'kubectl-create' }] }, 'kubectl-create'],
    [
      'not the manager that only labelled it',
      { managedFields: [{ manager: 'kubectl-label', fieldsV1: { 'f:metadata': {} } }] },
      '',
    ],
    ['an unknown manager, without managed fields', {}, ''],
    ['kubectl, which applies on its own side', { ...own, annotations: { [lastApplied]: '{}' } }, 'kubectl apply'],
    [
      'the tool that applies as kubectl does',
      { ...own, annotations: { [lastApplied]: '{}' }, managedFields: [api, keeper('argocd-controller')] },
      'argocd-controller',
    ],
    ['nobody, when only the status is applied', { ...own, managedFields: [status] }, undefined],
  ])('%s', (_who, metadata, expected) => {
    expect(otherManager({ metadata })).toBe(expected);
  });
});

describe('the field that another manager applies', () => {
  const spec = {
    displayName: 'Acme',
    members: ['ann@example.com', 'bob@example.com'],
    variables: [
      { name: 'FROM_GIT', value: '1', visibility: 'always' },
      { name: 'FROM_REST', value: '2', visibility: 'always' },
    ],
    scheduledRebuild: { mode: 'all', hour: '03:00' },
    branches: ['main'],
  };
  const fields = {
    'f:displayName': {},
    'f:members': { '.': {}, 'v:"ann@example.com"': {} },
    'f:variables': { '.': {}, 'k:{"name":"FROM_GIT"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
    'f:scheduledRebuild': { '.': {}, 'f:mode': {} },
    'f:branches': {},
  };
  const [fromGit, fromRest] = spec.variables;
  const changes: [string, Record<string, unknown>, string | undefined][] = [
    ['nothing that changes', { displayName: 'Acme', members: spec.members }, undefined],
    ['a field', { displayName: 'Other' }, 'spec.displayName'],
    ['a field that is removed', { displayName: null }, 'spec.displayName'],
    ['a field that is not applied', { environmentTTLSeconds: 60 }, undefined],
    ['an item of a set that comes', { members: [...spec.members, 'eve@example.com'] }, undefined],
    ['an item of a set that goes and is not applied', { members: ['ann@example.com'] }, undefined],
    ['an item of a set that goes', { members: ['bob@example.com'] }, 'spec.members["ann@example.com"]'],
    ['an item of a map that goes', { variables: [fromRest] }, 'spec.variables[{"name":"FROM_GIT"}]'],
    [
      'an item of a map that changes',
      { variables: [{ ...fromGit, value: '3' }, fromRest] },
      'spec.variables[{"name":"FROM_GIT"}]',
    ],
    ['an item of a map that is not applied', { variables: [fromGit, { ...fromRest, value: '3' }] }, undefined],
    ['a field of a field', { scheduledRebuild: { mode: 'disabled' } }, 'spec.scheduledRebuild.mode'],
    ['a field beside the one that is applied', { scheduledRebuild: { hour: '04:00' } }, undefined],
    ['an item of a list that is atomic', { branches: ['main', 'next'] }, 'spec.branches'],
  ];

  test.each(changes)('on the server: %s', (_what, patch, path) => {
    const managedFields = [api, { manager: 'flux', operation: 'Apply', fieldsV1: { 'f:spec': fields } }];
    const found = appliedFieldIn({ metadata: { managedFields }, spec }, patch);
    expect(found).toEqual(path === undefined ? undefined : { path, manager: 'flux' });
  });

  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['a field', { displayName: 'Other' }, 'spec.displayName'],
    ['a field that is not applied', { environmentTTLSeconds: 60 }, undefined],
    ['a list, which is replaced as a whole', { members: [...spec.members, 'eve@example.com'] }, 'spec.members'],
    ['a field beside the one that is applied', { scheduledRebuild: { hour: '04:00' } }, undefined],
  ])('is found after kubectl apply: %s', (_what, patch, path) => {
    const applied = { spec: { displayName: 'Acme', members: [], scheduledRebuild: { mode: 'all' } } };
    const annotations = { [lastApplied]: JSON.stringify(applied) };
    const found = appliedFieldIn({ metadata: { annotations, managedFields: [keeper('argocd')] }, spec }, patch);
    expect(found).toEqual(path === undefined ? undefined : { path, manager: 'argocd' });
  });

  test('is absent for what Coppice itself applies, or somebody updates', () => {
    const fieldsV1 = { 'f:spec': fields };
    const managedFields = [
      { manager: FIELD_MANAGERS.operator, operation: 'Apply', fieldsV1 },
      { manager: 'kubectl-edit', operation: 'Update', fieldsV1 },
    ];
    expect(appliedFieldIn({ metadata: { managedFields }, spec }, { displayName: 'Other' })).toBeUndefined();
  });
});
