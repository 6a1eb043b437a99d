import { expect, test } from '@jest/globals';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import { retiredVersions } from './retired-versions.ts';

const build = (version: string, result: 'running' | 'succeeded' | 'failed' = 'running') => ({
  number: 1,
  result,
  version,
  startedAt: '2026-01-01T00:00:00Z',
});

test.each<[string, EnvironmentStatus | undefined, EnvironmentStatus, string[], string[]]>([
  ['nothing before', undefined, { version: 'a' }, [], ['a']],
  ['nothing new', { version: 'a' }, { version: 'a' }, [], ['a']],
  [
    'a new version is built while the old one runs',
    { version: 'a', deployed: build('a', 'succeeded') },
    { version: 'b', deployed: build('a', 'succeeded'), build: build('b') },
    [],
    ['b', 'a'],
  ],
  [
    'a new version came up',
    { version: 'b', deployed: build('a', 'succeeded'), build: build('b') },
    { version: 'b', deployed: build('b', 'succeeded'), build: build('b', 'succeeded') },
    ['a'],
    ['b'],
  ],
  [
    'a build that was superseded',
    { version: 'b', deployed: build('a', 'succeeded'), build: build('b') },
    { version: 'c', deployed: build('a', 'succeeded'), build: build('c') },
    ['b'],
    ['c', 'a'],
  ],
])('%s', (_what, before, after, retired, kept) => {
  expect(retiredVersions(before, after)).toEqual({ retired, kept });
});
