import { expect, test } from '@jest/globals';
import { referencePage } from './reference.ts';

const string = { type: 'string' };
const spec = {
  type: 'object',
  required: ['name', 'mode'],
  properties: {
    name: { ...string, description: 'A name\nof two | lines.', pattern: '^a|b$', maxLength: 9 },
    mode: { ...string, enum: ['on', 'off'], default: 'on' },
    at: {
      ...string,
      format: 'date-time',
      'x-kubernetes-validations': [{ rule: 'b', message: 'at cannot be changed' }],
    },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 1 } },
        'x-kubernetes-validations': [{ rule: 'd', message: 'some size' }],
      },
    },
    words: {
      type: 'object',
      additionalProperties: string,
      'x-kubernetes-validations': [{ rule: 'c', message: 'is not a word' }],
    },
  },
};
const build = { type: 'object', properties: { number: { type: 'integer', minimum: 1 }, result: string } };
const status = {
  type: 'object',
  required: ['last'],
  properties: {
    last: { ...build, description: 'The last build.' },
    first: build,
    seed: { type: 'object', properties: { claim: string } },
    conditions: {
      type: 'array',
      items: { type: 'object', properties: { reason: string, lastTransitionTime: string } },
    },
  },
};
const definition = {
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things', shortNames: ['th'] },
    versions: [
      {
        name: 'v1',
        schema: {
          openAPIV3Schema: {
            description: 'Some thing.',
            'x-kubernetes-validations': [{ rule: 'a', message: 'things are few' }],
            properties: { spec, status },
          },
        },
      },
    ],
  },
};

test('lists each field with its path, type and limits', () => {
  const page = referencePage(definition);
  expect(page).toContain('# Thing fields\n\nSome thing. ');
  expect(page).toContain('\n\nThings are few.\n\n## spec\n');
  expect(page.split('\n').filter((line) => line.startsWith('- `'))).toEqual([
    '- `name` (string, required, ≤ 9 characters): A name of two | lines. Matches `^a|b$`.',
    '- `mode` (string, default `"on"`): One of `on`, `off`.',
    '- `at` (time): Immutable.',
    '- `parts` (list of object): Some size.',
    '- `parts[].size` (integer, ≥ 1)',
    '- `words` (map of string): Must be a word.',
    '- `last` (object): The last build.',
    '- `last.number` (integer)',
    '- `last.result` (string)',
    '- `first` (object): Fields as of `last`.',
    '- `conditions` (list of object)',
  ]);
});
