import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { faultWords } from './fault-words.ts';

test.each<[string, z.ZodType, unknown, string, string]>([
  ['nothing', z.object({ name: z.string() }), {}, 'name', 'is missing: send a string'],
  ['another type', z.object({ name: z.string() }), { name: 5 }, 'name', 'must be a string, and is a number'],
  ['null', z.object({ a: z.object({}) }), { a: null }, 'a', 'must be a JSON object, and is null'],
  ['a list', z.object({}), [], '', 'must be a JSON object, and is a list'],
  ['a fraction', z.int(), 1.5, '', 'must be an integer, and is a number'],
  ['an empty text', z.string().min(1), '', '', 'must not be empty'],
  ['a short text', z.string().min(8), 'secret', '', 'must have 8 characters at least'],
  ['a long text', z.string().max(3), 'secret', '', 'must have 3 characters at most'],
  ['a long list', z.array(z.string()).max(0), ['secret'], '', 'must have 0 entries at most'],
  ['a small number', z.number().min(2), 1, '', 'must be 2 at least'],
  ['another word', z.enum(['a', 'b']), 'secret', '', 'must be one of a, b'],
  ['another text', z.literal('a'), 'secret', '', 'must be a'],
  ['more fields', z.strictObject({}), { b: 'secret' }, '', 'has fields that are not known here: b'],
  ['a fault with a message of its own', z.string({ error: 'must be my string' }), 5, '', 'must be my string'],
])('says what to do about %s', (_what, schema, value, path, message) => {
  const { error } = schema.safeParse(value, { error: faultWords });
  expect(error?.issues.map((issue) => [issue.path.join('.'), issue.message])).toEqual([[path, message]]);
});
