import { z } from 'zod';
import { secretRefusal, type SecretNamer } from '../../crds/named-secret.ts';
import { VISIBILITIES, type VariableSpec } from '../../crds/variable.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';

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

/** Returns a variable as those see it who cannot read its value. */
export function withheldView({ name, visibility, secret }: VariableSpec): VariableView {
  return { name, value: '', visibility, ...(secret === true ? { secret } : { withheld: true }) };
}

/** Returns a variable with its value, unless that is secret. @param secrets by name, those that variables refer to */
export function variableView(
  { name, value, valueFrom, visibility, secret: isSecret }: VariableSpec,
  secrets: ReadonlyMap<string, Secret | undefined>,
  namer: SecretNamer,
): VariableView {
  const marked = { name, visibility, ...(isSecret === true && { secret: true as const }) };
  const shown = (text: string) => ({ ...marked, value: isSecret === true ? '' : text });
  if (!valueFrom) return shown(value ?? '');
  const { name: secret, key } = valueFrom.secretKeyRef;
  const found = secrets.get(secret);
  // The operator refuses the same Secrets: users must not read here what they cannot read there.
  const refusal = found && secretRefusal(found, namer);
  if (refusal !== undefined) return { ...shown(''), error: refusal };
  const text = secretText(found, key);
  if (text !== undefined) return shown(text);
  return { ...shown(''), error: `the Secret ${secret} with the key ${key} does not exist. Create it` };
}
