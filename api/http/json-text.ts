import { z } from 'zod';

/** Returns the schema of a text that is JSON of this schema, which the OpenAPI document shows as `contentSchema`. */
export function jsonText(schema: z.ZodType): z.ZodString {
  return z.string().meta({ contentMediaType: 'application/json', contentSchema: schema });
}
