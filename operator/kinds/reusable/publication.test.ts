import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import type { GitRef } from '../../../crds/git-ref.ts';
import { isNewer, isPublicationDue, publicationOf, publicationRefusal, supersededClaims } from './publication.ts';

const main: GitRef = { name: 'main', type: 'branch' };
const settings = [{ label: 'base', refs: [{ name: 'main', type: 'branch' as const }] }];

describe('who can publish', () => {
  test.each<[string, string, GitRef, boolean, typeof settings | undefined, string | undefined]>([
    ['the ref that is named', 'base', main, true, settings, undefined],
    ['another branch', 'base', { name: 'feature', type: 'branch' }, true, settings, 'RefNotNamed'],
    ['a tag of the same name', 'base', { name: 'main', type: 'tag' }, true, settings, 'RefNotNamed'],
    ['another label', 'other', main, true, settings, 'RefNotNamed'],
    ['a repository that names no ref', 'base', main, true, undefined, 'RefNotNamed'],
    ['a fork', 'base', { name: '7', type: 'pull request' }, false, settings, 'NotTrusted'],
    ['a trusted pull request', 'base', { name: '7', type: 'pull request' }, true, settings, 'RefNotNamed'],
  ])('%s', (_, label, gitRef, isTrusted, named, reason) => {
    expect(publicationRefusal(label, { gitRef }, isTrusted, named)?.reason).toBe(reason);
  });
});

test.each([
  ['never published', undefined, true],
  ['under way', { label: 'base', build: 2, result: 'running' as const }, true],
  ['published', { label: 'base', build: 2, result: 'succeeded' as const }, false],
  ['failed', { label: 'base', build: 2, result: 'failed' as const }, false],
  ['an earlier build', { label: 'base', build: 1, result: 'succeeded' as const }, true],
  ['published under another label', { label: 'old', build: 2, result: 'succeeded' as const }, true],
])('publishes a build once: %s', (_, publication, isDue) => {
  const build: BuildStatus = { number: 2, result: 'succeeded', startedAt: '2026-01-01T00:00:00Z' };
  expect(isPublicationDue({ publication }, 'base', build)).toBe(isDue);
});

test.each([
  [undefined, true],
  ['2026-01-01T00:00:00Z', true],
  ['2026-01-02T00:00:00Z', true],
  ['2026-01-03T00:00:00.000+00:00', false],
])('a build of 2026-01-02 replaces one of %s: %p', (builtAt, gives) => {
  expect(isNewer({ builtAt }, '2026-01-02T00:00:00Z')).toBe(gives);
});

test.each<[string, Environment | undefined, string]>([
  ['is running', publisher('u1', 'running'), 'running'],
  ['has succeeded', publisher('u1', 'succeeded'), 'succeeded'],
  ['has failed', publisher('u1', 'failed'), 'over'],
  ['was refused', publisher('u1', undefined), 'over'],
  ['belonged to a deleted environment', undefined, 'over'],
  ['belonged to a former environment of the same name', publisher('u2', 'running'), 'over'],
])('recognizes that the publication of a claim %s', (_, environment, publication) => {
  expect(publicationOf(environment, 'u1')).toBe(publication);
});

function publisher(uid: string, result: 'running' | 'succeeded' | 'failed' | undefined): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { namespace: 'group-acme', name: 'shop-main', uid },
    spec: { repository: 'shop', gitRef: main, active: true, buildOnCreate: true },
    status: { ...(result && { publication: { label: 'base', build: 3, result } }) },
  };
}

test('removes copies replaced by a newer publication, unless they are read or being made', () => {
  const claims = ['former', 'read', 'now', 'coming'].map((name, index) => ({
    claim: { metadata: { name } },
    builtAt: `2026-01-0${Math.max(index, 1)}T00:00:00Z`,
    publication: name === 'coming' ? ('running' as const) : ('succeeded' as const),
  }));
  const status = { builtAt: '2026-01-02T00:00:00Z', volumes: [{ name: 'data', claim: 'now', size: '1Gi' }] };
  const { gone, awaited } = supersededClaims(claims, { status }, new Set(['read']));
  expect([gone, awaited].map((all) => all.map(({ metadata }) => metadata.name))).toEqual([
    ['former'],
    ['read', 'coming'],
  ]);
  expect(supersededClaims(claims, { status: {} }, new Set()).gone).toEqual([]);
});
