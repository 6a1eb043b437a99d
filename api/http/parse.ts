import { z } from 'zod';
import { Invalid } from './errors.ts';
import { faultWords } from './fault-words.ts';

/** More help nobody, and would make an answer much larger than its request. */
const maxDetails = 50;

/** Where a request was wrong, one entry for each fault. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value, { error: faultWords });
  if (result.success) return result.data;
  const details = result.error.issues
    .slice(0, maxDetails)
    .map(({ path, message }) => ({ path: path.join('.'), message }));
  throw new Invalid(`${what} is not valid`, { details });
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
        // For the OpenAPI document; below it is checked, in our own words, for strings too.
        z.int().meta({ minimum: least, maximum: most }),
        z
          .string()
          .regex(/^-?\d{1,15}$/)
          .transform(Number),
      ],
      { error },
    )
    .refine((value) => value >= least && value <= most, { error });
}

/** Half of a surrogate pair is no text: on its way to the cluster it would become another character. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Text, or the boolean or number that stands for it. */
export const textField = z
  .union([z.string(), z.boolean().transform(String), z.number().transform(String)], { error: 'must be a string' })
  .refine(isText, { error: 'must be Unicode text without NUL' });

/** Text in one line, such as goes into a header or to git's credential helper. */
export const lineField = z.string().refine((text) => isText(text) && !/\p{Cc}/u.test(text), {
  error: 'must be Unicode text without control characters',
});

/** The limit of a service file in the CRD. */
const longestServiceFile = 131_072;

/** A service file, in base64 of UTF-8 as contract section 2 has it; gives the text. */
export const encodedTextField = z
  .base64({ error: 'must be base64' })
  .transform((encoded) => Buffer.from(encoded, 'base64'))
  .refine((bytes) => Buffer.from(bytes.toString('utf8')).equals(bytes), { error: 'must be text in UTF-8' })
  .transform((bytes) => bytes.toString('utf8'))
  .refine((text) => text.length <= longestServiceFile, { error: `must have ${longestServiceFile} characters at most` });

/** Control characters, line separators, and what turns the direction of the text around it: names stand beside others'. */
const unseen = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/** A name for people; what it is made into must be checked besides. */
export const nameField = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((name) => name.isWellFormed() && !unseen.test(name), {
    error: 'must be Unicode text without control characters',
  });
