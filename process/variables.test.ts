import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { readVariables } from './variables.ts';

const schema = z.object({ PORT: z.coerce.number().int().default(3000), TOKEN: z.string().min(5) });

test('treats an empty variable as absent', () => {
  expect(readVariables(schema, { PORT: '', TOKEN: 'abcdef', OTHER: 'x' })).toEqual({ PORT: 3000, TOKEN: 'abcdef' });
});

test('names each missing or invalid variable, and no value', () => {
  const read = () => readVariables(schema, { PORT: 'a-secret', TOKEN: '1234' });
  expect(read).toThrow(/^the environment variables are not valid: PORT: .*; TOKEN: /);
  expect(read).not.toThrow(/a-secret|1234/);
});
