import { expect, it } from '@jest/globals';
import { canonicalHost, isInRegistry, splitAddress } from './own-registry.ts';

it.each([
  ['Registry.Example.COM', 'registry.example.com'],
  ['registry.example.com:443', 'registry.example.com'],
  ['registry.example.com.:80', 'registry.example.com'],
  ['KIND-registry:5000', 'kind-registry:5000'],
  ['kind-registry.:5000', 'kind-registry:5000'],
  ['kind-registry:05000', 'kind-registry:5000'],
  ['registry.example.com:0443', 'registry.example.com'],
  ['Index.docker.io', 'docker.io'],
  ['registry-1.docker.io:443', 'docker.io'],
])('reads %s as the host %s', (host, expected) => {
  expect(canonicalHost(host)).toBe(expected);
});

it.each([
  ['kind-registry:5000', 'kind-registry:5000/acme/shop/web', true],
  ['kind-registry:5000', 'KIND-REGISTRY:5000/acme/shop/web:1', true],
  ['registry.example.com', 'registry.example.com:443/acme/shop/web', true],
  ['registry.example.com:443', 'Registry.example.com/acme/shop/web', true],
  ['registry.example.com', 'registry.example.com:0000443/acme/shop/web', true],
  ['kind-registry:5000', 'kind-registry:05000/acme/shop/web', true],
  ['kind-registry:5000', 'kind-registry:5001/acme/shop/web', false],
  ['kind-registry:5000', 'redis:7', false],
  ['ghcr.io/acme/coppice', 'GHCR.io/acme/coppice/shop/web', true],
  ['ghcr.io/acme/coppice', 'ghcr.io/acme/coppice-base:1', false],
  ['ghcr.io/acme/coppice', 'ghcr.io/astral-sh/uv:1', false],
  ['docker.io/acme', 'acme/shop:1', true],
  ['docker.io/acme', 'registry-1.docker.io/acme/shop:1', true],
  ['index.docker.io/acme', 'acme/shop:1', true],
])('with the registry %s, treats %s as one of its images: %s', (address, image, expected) => {
  expect(isInRegistry(address, image)).toBe(expected);
});

it('splits host and path', () => {
  expect(splitAddress('r:5000')).toEqual({ host: 'r:5000', path: '' });
  expect(splitAddress('europe-docker.pkg.dev/project/images')).toEqual({
    host: 'europe-docker.pkg.dev',
    path: 'project/images',
  });
});
