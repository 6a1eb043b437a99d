import { z } from 'zod';
import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { encodedTextField } from '../http/parse.ts';
import { variableViewSchema, type VariableView } from '../variables/variable-view.ts';

/** The overrides of an environment. */
export const overridesViewSchema = z
  .object({
    applies: z.boolean().meta({ description: 'False for code that is not trusted: it gets no overrides.' }),
    variables: z.array(variableViewSchema),
    serviceFile: z.string().meta({ description: 'YAML in base64; empty if there is none.' }),
    warnings: z.array(z.string()).optional().meta({
      description: 'What is probably wrong in the service file that was just set; omitted if nothing is.',
    }),
    withheld: z.literal(true).optional().meta({
      description: 'The token does not permit reading values; `serviceFile` is empty if there is one.',
    }),
  })
  .meta({ id: 'Overrides' });
export type OverridesView = z.infer<typeof overridesViewSchema>;

/** Maximum size of the service file of one environment, in bytes. */
export const MAX_OVERRIDES_BYTES = 64 * 1024;

/** Body of POST /api/environment/{id}/overrides. */
export const changeOverridesSchema = z.object({
  serviceFile: encodedTextField
    .refine((text) => Buffer.byteLength(text) <= MAX_OVERRIDES_BYTES, {
      error: `must have ${MAX_OVERRIDES_BYTES / 1024} KiB at most`,
    })
    .meta({ description: 'YAML in base64, merged over the service file of the repository; empty for none.' }),
});

/** Returns the overrides. @param serviceFile undefined if the caller cannot read it */
export function overridesView(
  { status }: Environment,
  variables: VariableView[],
  serviceFile: string | undefined,
): OverridesView {
  return {
    applies: findCondition(status?.conditions, 'Trusted')?.status !== 'False',
    variables,
    serviceFile: Buffer.from(serviceFile ?? '').toString('base64'),
    ...(serviceFile === undefined && { withheld: true as const }),
  };
}
