import { z } from 'zod';
import { VISIBILITIES } from '../../crds/variable.ts';
import { isReservedName, RESERVED_NAME } from '../../service-file/own-variables.ts';
import { booleanField, textField } from '../http/parse.ts';

const maxValue = 32_768;

const nameField = z
  .string()
  .max(128)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
    error: 'must consist of letters, digits and underscores, and not start with a digit',
  })
  .refine((name) => !isReservedName(name), { error: `is reserved: ${RESERVED_NAME}. Choose another name` });

const valueField = textField.refine((value) => value.length <= maxValue, {
  error: `must have ${maxValue} characters at most`,
});

const visibilityField = z.enum(VISIBILITIES, { error: `must be one of ${VISIBILITIES.join(', ')}` });

/** Body of POST …/variables. */
export const createVariableSchema = z.object({
  name: nameField,
  value: valueField,
  visibility: visibilityField.default('always'),
  secret: booleanField.default(false),
});
export type CreateVariable = z.infer<typeof createVariableSchema>;

/** Body of PATCH …/variables. An invalid name is answered with 404, not 422: no variable has it. */
export const updateVariableSchema = z
  .object({
    name: z.string(),
    value: valueField.optional(),
    visibility: visibilityField.optional(),
    secret: booleanField.optional(),
  })
  .refine(({ value, visibility, secret }) => value !== undefined || visibility !== undefined || secret !== undefined, {
    path: ['value'],
    error: 'value, visibility or secret is required',
  })
  // For the OpenAPI document, which cannot express the refinement.
  .meta({ anyOf: ['value', 'visibility', 'secret'].map((field) => ({ required: [field] })) });
export type UpdateVariable = z.infer<typeof updateVariableSchema>;
