import { expect, test } from '@jest/globals';
import { referencePage } from './reference.ts';

const string = { type: 'string' };
const spec = {
  type: 'object',
  required: ['name', 'mode'],
  'x-kubernetes-validations': [{ rule: 'a', message: 'one of both' }],
  properties: {
    name: { ...string, description: 'A name\nof two | lines.', pattern: '^a|b$', maxLength: 9 },
    mode: { ...string, enum: ['on', 'off'], default: 'on' },
    at: { ...string, format: 'date-time' },
    parts: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } } },
    words: { type: 'object', additionalProperties: string },
  },
};
const build = { type: 'object', properties: { number: { type: 'integer', minimum: 1 }, result: string } };
const status = {
  type: 'object',
  required: ['last'],
  properties: {
    last: { ...build, description: 'The last build.' },
    first: build,
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
      { name: 'v1', schema: { openAPIV3Schema: { description: 'Some thing.', properties: { spec, status } } } },
    ],
  },
};

test('each field has its path, its type, and what it may hold', () => {
  const page = referencePage(definition);
  expect(page).toContain('# Thing\n\nSome thing.\n\n`apiVersion: example.org/v1`, namespaced;');
  expect(page).toContain('## spec\n\n- one of both\n');
  expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual([
    '| `name` | string | Required. A name of two \\| lines. ≤ 9 characters. Matches `^a\\|b$`. |',
    '| `mode` | string | One of `on`, `off`. Default: `"on"`. |',
    '| `at` | time |  |',
    '| `parts` | list of object |  |',
    '| `parts[].size` | integer | ≥ 1. |',
    '| `words` | map of string |  |',
    '| `last` | object | The last build. |',
    '| `last.number` | integer |  |',
    '| `last.result` | string |  |',
    '| `first` | object | Fields as of `last`. |',
    '| `conditions` | list of object |  |',
  ]);
});
