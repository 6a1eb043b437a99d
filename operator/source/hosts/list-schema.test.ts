import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { listSchema } from './list-schema.ts';

const schema = listSchema(z.object({ id: z.int() }), 3);

test('a list is read item by item, without what is not named', () => {
  expect(schema.parse([{ id: 1, body: 'x' }, { id: 2 }])).toEqual([{ id: 1 }, { id: 2 }]);
});

test.each<[string, unknown, PropertyKey[]]>([
  ['the first item that is not as expected', [{ id: 1 }, { id: 'x' }, {}], [1, 'id']],
  ['too many items', [{}, {}, {}, {}], []],
  ['what is not a list', { id: 1 }, []],
])('of %s there is one issue', (_, value, path) => {
  expect(schema.safeParse(value).error?.issues.map((issue) => issue.path)).toEqual([path]);
});
