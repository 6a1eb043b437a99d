import { expect, test } from '@jest/globals';
import { SERVICE_DEFAULTS } from '../../../service-file/schema.ts';
import { awaitedImages } from './awaited-images.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';

test.each([
  [`ghcr.io/acme/app:${commit}`, true],
  [`acme/app:sha-${commit}-amd64`, true],
  [`ghcr.io/acme/${commit}`, true],
  ['ghcr.io/acme/app:1.2', false],
  [`ghcr.io/acme/app:${commit.slice(0, 12)}`, false],
  [`ghcr.io/acme/app:${commit}@sha256:${'a'.repeat(64)}`, false],
])('waits for %s: %s', (image, expected) => {
  expect(awaitedImages(['c1', commit], { services: [{ ...SERVICE_DEFAULTS, name: 'web', image }] })).toHaveLength(
    expected ? 1 : 0,
  );
});

test('waits once for an image of several services', () => {
  const image = `app:${commit}`;
  const services = ['web', 'worker'].map((name) => ({ ...SERVICE_DEFAULTS, name, image }));
  expect(awaitedImages(['c1', commit], { services })).toEqual([
    expect.objectContaining({ image, services: ['web', 'worker'] }),
  ]);
});
