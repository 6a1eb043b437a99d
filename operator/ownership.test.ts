import { describe, expect, test } from '@jest/globals';
import type { KubernetesObject } from '../kubernetes/resource-type.ts';
import { isAppliedByOthers, withAppliers } from './ownership.ts';

const fieldsV1 = { 'f:spec': {} };
const flux = { manager: 'flux', operation: 'Apply', apiVersion: 'coppice.dev/v1alpha1', fieldsV1 };
const status = { manager: 'x', operation: 'Apply', subresource: 'status', fieldsV1 };
const api = { manager: 'coppice-api', operation: 'Update', fieldsV1 };

function object(managedFields?: unknown[]): KubernetesObject {
  return { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', ...(managedFields && { managedFields }) } };
}

describe('what a cache keeps tells whether somebody applied the object', () => {
  test.each<[string, unknown[] | undefined, boolean]>([
    ['a GitOps tool', [api, flux], true],
    ['nobody but Coppice', [api], false],
    ['nobody, though its status is applied', [status], false],
    ['nobody, where nothing is told', undefined, false],
  ])('%s', (_who, managedFields, expected) => {
    expect(isAppliedByOthers(withAppliers(object(managedFields)))).toBe(expected);
  });
});

test('of managedFields a cache keeps no fields, and nothing where nobody applied', () => {
  const kept = [{ manager: 'flux', operation: 'Apply' }];
  expect(withAppliers(object([api, flux])).metadata).toEqual({ name: 'x', managedFields: kept });
  expect(withAppliers(object([api, status])).metadata).toEqual({ name: 'x' });
});
