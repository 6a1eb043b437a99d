import type { z } from 'zod';
import { invalid } from '../../shared/errors.ts';
import { parse } from '../../http/parse.ts';
import { beyondJsonBounds } from '../../limits/json-bounds.ts';

/** Parses the JSON of a body whose signature is valid. @throws Invalid */
export function parseJsonBody<T>(schema: z.ZodType<T>, text: string): T {
  return parse(schema, jsonOf(text), 'the body');
}

function jsonOf(text: string): unknown {
  const beyond = beyondJsonBounds(Buffer.from(text));
  if (beyond !== undefined) throw invalid('the body', [{ path: '', message: beyond }]);
  try {
    return JSON.parse(text);
  } catch (error) {
    const details = [{ path: '', message: 'is not valid JSON' }];
    throw invalid('the body', details, { cause: error });
  }
}
