import { expect, test } from '@jest/globals';
import { Stalled } from '../../shared/errors.ts';
import type { ImageLookup } from '../registry/image-lookup.ts';
import { parseReference } from '../registry/reference.ts';
import { planWait } from './wait-plan.ts';

const startedAt = new Date('2026-01-01T00:00:00Z');

function plan(lookups: Record<string, ImageLookup | undefined>, seconds: number, hasCredentials = true) {
  const awaited = Object.keys(lookups).map((image) => {
    const reference = parseReference(image);
    if (!reference) throw new Error(image);
    return { image, reference, services: [`${image}-service`] };
  });
  const now = new Date(startedAt.getTime() + seconds * 1000);
  const known = new Map(Object.entries(lookups));
  return planWait({ awaited, lookups: known, startedAt, deadlineSeconds: 60, hasCredentials, now });
}

const there = { digest: 'sha256:1' };

test('is over at once without images', () => {
  expect(plan({}, 0)).toEqual({ isOver: true, images: [], unknown: [] });
});

test('is over when each image exists or cannot be looked for', () => {
  expect(plan({ a: there, b: { absence: 'private' } }, 100)).toEqual({
    isOver: true,
    images: [{ service: 'a-service', image: 'a@sha256:1' }],
    unknown: [expect.objectContaining({ image: 'b' })],
  });
});

test.each<[string, Record<string, ImageLookup | undefined>, string | undefined]>([
  ['says nothing before the first response', { a: undefined, b: there }, undefined],
  [
    'names each image that is missing, and why',
    { a: { absence: 'absent' }, b: there, c: { absence: 'denied' }, d: undefined, e: { absence: 'failing' } },
    'waiting until 2026-01-01T00:01:00Z for the image a of a-service (not in its registry yet); the image c of c-service (its registry denies access, as some do until an image exists); the image e of e-service (its registry does not respond, or limits requests)',
  ],
])('%s', (_what, lookups, message) => {
  expect(plan(lookups, 20)).toEqual({ isOver: false, message, leftMs: 40_000 });
});

test('does not fail before each image was looked for', () => {
  expect(plan({ a: { absence: 'absent' }, b: undefined }, 61)).toMatchObject({ isOver: false, leftMs: 0 });
});

test.each<[ImageLookup, boolean, RegExp]>([
  [{ absence: 'absent' }, true, /after 60 s: the image a of a-service: its registry does not have it. Check that CI/],
  [{ absence: 'denied' }, true, /denies access. Check the name, and add a Secret .* registrySecrets/],
  [{ absence: 'denied' }, false, /pull requests from forks pull without credentials/],
  [{ absence: 'failing' }, true, /does not respond/],
])('fails after the deadline: %j', (lookup, hasCredentials, message) => {
  expect(() => plan({ a: lookup }, 60, hasCredentials)).toThrow(message);
  expect(() => plan({ a: lookup }, 60, hasCredentials)).toThrow(Stalled);
});
