import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { listSchema } from './list-schema.ts';

const schema = listSchema(z.object({ id: z.int() }), 3);

test('reads a list item by item, without unnamed fields', () => {
  expect(schema.parse([{ id: 1, body: 'x' }, { id: 2 }])).toEqual([{ id: 1 }, { id: 2 }]);
});

test.each<[string, unknown, PropertyKey[]]>([
  ['the first item that is not as expected', [{ id: 1 }, { id: 'x' }, {}], [1, 'id']],
  ['too many items', [{}, {}, {}, {}], []],
  ['a value that is not a list', { id: 1 }, []],
])('reports one issue for %s', (_, value, path) => {
  expect(schema.safeParse(value).error?.issues.map((issue) => issue.path)).toEqual([path]);
});
