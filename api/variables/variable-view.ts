import { z } from 'zod';
import { VISIBILITIES } from '../../crds/variable.ts';

/** A variable. */
export const variableViewSchema = z
  .object({
    name: z.string(),
    value: z.string(),
    visibility: z.enum(VISIBILITIES),
    secret: z
      .literal(true)
      .optional()
      .meta({ description: 'Extension: the value is secret and never returned; `value` is empty.' }),
    withheld: z
      .literal(true)
      .optional()
      .meta({ description: 'Extension: the token does not permit reading values; `value` is empty.' }),
    error: z.string().optional().meta({ description: 'Extension: why the value is unknown; `value` is then empty.' }),
  })
  .meta({ id: 'Variable' });
export type VariableView = z.infer<typeof variableViewSchema>;
