import { z } from 'zod';
import { Invalid } from './errors.ts';

/** Where a request was wrong, one entry for each fault. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues.flatMap(faults);
  throw new Invalid(`${what} is not valid`, { details });
}

function faults(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  return [{ path: issue.path.join('.'), message: issue.message }];
}

/** A boolean, or its name as a string: forms and query strings know no other. */
export const booleanField = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
});

/** An integer, or its digits as a string, within the bounds. */
export function integerField(least: number, most: number) {
  const error = `must be an integer from ${least} to ${most}`;
  return z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^-?\d{1,15}$/)
          .transform(Number),
      ],
      { error },
    )
    .refine((value) => value >= least && value <= most, { error });
}

/** A name for people; what it is made into must be checked besides. */
export const nameField = z.string().trim().min(1).max(100);
