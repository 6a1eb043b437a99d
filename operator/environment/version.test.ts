import { describe, expect, test } from '@jest/globals';
import type { Variable } from '../../service-file/variables.ts';
import { versionId, type VersionInput } from './version.ts';

const variables = (entries: Record<string, Variable>) => new Map(Object.entries(entries));
const input: VersionInput = {
  commit: 'c1',
  trusted: true,
  serviceFile: { mode: 'repo' },
  variables: variables({ A: { value: '1', visibility: 'always' }, B: { value: '2', visibility: 'buildtime' } }),
};

describe('a version is named by all that it was read from', () => {
  test.each<[string, Partial<VersionInput>]>([
    ['commit', { commit: 'c2' }],
    ['mode', { serviceFile: { mode: 'both' } }],
    ['settings', { serviceFile: { mode: 'repo', content: 'services: {}' } }],
    [
      "a variable's value",
      { variables: variables({ ...Object.fromEntries(input.variables), A: { value: '3', visibility: 'always' } }) },
    ],
    [
      "a variable's visibility",
      { variables: variables({ ...Object.fromEntries(input.variables), A: { value: '1', visibility: 'buildtime' } }) },
    ],
    ['no variables', { variables: new Map() }],
    ['trust', { trusted: false }],
  ])('another %s is another version', (_what, change) => {
    expect(versionId({ ...input, ...change })).not.toBe(versionId(input));
  });

  test('the order of the variables makes no difference', () => {
    const turned = new Map([...input.variables].reverse());
    expect(versionId({ ...input, variables: turned })).toBe(versionId(input));
  });
});
