import { expect, test } from '@jest/globals';
import { resourcePath, type PathSegments } from './resource-path.ts';
import { Deployment, Namespace, Pod, type ResourceType } from './resource-type.ts';

test.each<[ResourceType, PathSegments, string]>([
  [Pod, {}, '/api/v1/pods'],
  [Pod, { namespace: 'shop' }, '/api/v1/namespaces/shop/pods'],
  [Pod, { namespace: 'shop', name: 'web', subresource: 'log' }, '/api/v1/namespaces/shop/pods/web/log'],
  [Namespace, { name: 'shop' }, '/api/v1/namespaces/shop'],
  [Namespace, { namespace: 'ignored', name: 'shop' }, '/api/v1/namespaces/shop'],
  [Deployment, { namespace: 'shop', name: 'web' }, '/apis/apps/v1/namespaces/shop/deployments/web'],
  [Pod, { namespace: '../x', name: 'a/b?c' }, '/api/v1/namespaces/..%2Fx/pods/a%2Fb%3Fc'],
])('returns for $kind and %p the path %p', (type, parts, path) => {
  expect(resourcePath(type, parts)).toBe(path);
});

test('throws for a name without a namespace, or an empty one', () => {
  expect(() => resourcePath(Pod, { name: 'web' })).toThrow(TypeError);
  expect(() => resourcePath(Pod, { namespace: 'shop', name: '' })).toThrow(TypeError);
});
