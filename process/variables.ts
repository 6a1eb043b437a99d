import type { z } from 'zod';

/**
 * Reads the environment variables of a schema; an empty one counts as absent.
 * @throws Error that names each missing or invalid variable, never its value
 */
export function readVariables<S extends z.ZodType>(
  schema: S,
  variables: Record<string, string | undefined>,
): z.output<S> {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new Error(
    `the environment variables are not valid: ${faultsOf(result.error)}. Correct them, or the chart values that set them`,
  );
}

/** Returns the location and kind of each fault, without values. */
export function faultsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}
