import { z } from 'zod';
import { VISIBILITIES } from '../../crds/variable.ts';

/** Contract section 2, variable. */
export const variableViewSchema = z
  .object({
    name: z.string(),
    value: z.string(),
    visibility: z.enum(VISIBILITIES),
    secret: z
      .literal(true)
      .optional()
      .meta({ description: 'Ours: the value was written as a secret, and is never shown; `value` is empty.' }),
    withheld: z
      .literal(true)
      .optional()
      .meta({ description: 'Ours: the token may not read values; `value` is empty.' }),
    error: z.string().optional().meta({ description: 'Ours: why the value is not known; it is empty then.' }),
  })
  .meta({ id: 'Variable' });
export type VariableView = z.infer<typeof variableViewSchema>;
