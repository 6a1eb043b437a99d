import { describe, expect, test } from '@jest/globals';
import { EXAMPLE_FACTS } from '../../../../service-file/own-variables.ts';
import type { Variable } from '../../../../service-file/variables.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { retiredRevisions } from './revision.ts';
import { revisionId, type RevisionInput } from './revision-id.ts';

const variables = (entries: Record<string, Variable>) => new Map(Object.entries(entries));
const hashKey = Buffer.from('key');
const input: RevisionInput = {
  commit: 'c1',
  trusted: true,
  serviceFile: { mode: 'repo' },
  facts: EXAMPLE_FACTS,
  variables: variables({ A: { value: '1', visibility: 'always' }, B: { value: '2', visibility: 'buildtime' } }),
};

describe('the name of a revision', () => {
  test.each<[string, Partial<RevisionInput>]>([
    ['commit', { commit: 'c2' }],
    ['address', { facts: { ...EXAMPLE_FACTS, web: { url: 'https://other', host: 'other' } } }],
    ['registry', { facts: { ...EXAMPLE_FACTS, registry: 'other' } }],
    ['mode', { serviceFile: { mode: 'both' } }],
    ['overrides', { serviceFile: { mode: 'repo', overrides: 'services: {}' } }],
    ['settings', { serviceFile: { mode: 'repo', content: 'services: {}' } }],
    [
      "a variable's value",
      { variables: variables({ ...Object.fromEntries(input.variables), A: { value: '3', visibility: 'always' } }) },
    ],
    [
      "a variable's visibility",
      { variables: variables({ ...Object.fromEntries(input.variables), A: { value: '1', visibility: 'buildtime' } }) },
    ],
    [
      "a variable's secret mark",
      {
        variables: variables({
          ...Object.fromEntries(input.variables),
          A: { value: '1', visibility: 'always', secret: true },
        }),
      },
    ],
    ['no variables', { variables: new Map() }],
    ['trust', { trusted: false }],
  ])('changes with %s', (_what, change) => {
    expect(revisionId(hashKey, { ...input, ...change })).not.toBe(revisionId(hashKey, input));
  });

  test('does not reveal a variable without the key', () => {
    expect(revisionId(Buffer.from('other'), input)).not.toBe(revisionId(hashKey, input));
  });

  test('does not depend on the order of variables', () => {
    const transitioned = new Map([...input.variables].reverse());
    expect(revisionId(hashKey, { ...input, variables: transitioned })).toBe(revisionId(hashKey, input));
  });
});

const build = (revision: string, result: 'running' | 'succeeded' | 'failed' = 'running') => ({
  number: 1,
  result,
  revision,
  startedAt: '2026-01-01T00:00:00Z',
});

test.each<[string, EnvironmentStatus | undefined, EnvironmentStatus, string[], string[]]>([
  ['nothing before', undefined, { revision: 'a' }, [], ['a']],
  ['nothing new', { revision: 'a' }, { revision: 'a' }, [], ['a']],
  [
    'a new revision is built while the old one runs',
    { revision: 'a', deployed: build('a', 'succeeded') },
    { revision: 'b', deployed: build('a', 'succeeded'), build: build('b') },
    [],
    ['b', 'a'],
  ],
  [
    'a new revision became ready',
    { revision: 'b', deployed: build('a', 'succeeded'), build: build('b') },
    { revision: 'b', deployed: build('b', 'succeeded'), build: build('b', 'succeeded') },
    ['a'],
    ['b'],
  ],
  [
    'a build that was superseded',
    { revision: 'b', deployed: build('a', 'succeeded'), build: build('b') },
    { revision: 'c', deployed: build('a', 'succeeded'), build: build('c') },
    ['b'],
    ['c', 'a'],
  ],
])('returns revisions that are retired: %s', (_what, before, after, retired, kept) => {
  expect(retiredRevisions(before, after)).toEqual({ retired, kept });
});
