import { z } from 'zod';
import { invalid } from '../shared/errors.ts';
import { faultWords } from '../../process/fault-words.ts';

/** More details are not helpful, and would make a response much larger than its request. */
const maxDetails = 50;

/** Parses a value; reports one detail for each fault. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value, { error: faultWords });
  if (result.success) return result.data;
  const details = result.error.issues
    .slice(0, maxDetails)
    .map(({ path, message }) => ({ path: path.join('.'), message }));
  throw invalid(what, details);
}

/** A boolean or its name as a string, as in forms and query strings. */
export const booleanField = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
});

/** An integer or its digits as a string, within the bounds. */
export function integerField(min: number, max: number) {
  const error = `must be an integer from ${min} to ${max}`;
  return z
    .union(
      [
        // For the OpenAPI document; also enforced below for strings, with our own message.
        z.int().meta({ minimum: min, maximum: max }),
        z
          .string()
          .regex(/^-?\d{1,15}$/)
          .transform(Number),
      ],
      { error },
    )
    .refine((value) => value >= min && value <= max, { error });
}

/** Half of a surrogate pair is not text: the cluster would store another character. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A text. Booleans and numbers are accepted too, and converted. */
export const textField = z
  .union([z.string(), z.boolean().transform(String), z.number().transform(String)], { error: 'must be a string' })
  .refine(isText, { error: 'must be Unicode text without NUL' });

/** Text in one line, for example for a header or git's credential helper. */
export const lineField = z.string().refine((text) => isText(text) && !/\p{Cc}/u.test(text), {
  error: 'must be Unicode text without control characters',
});

/** Limit of a service file in the CRD. */
const maxServiceFile = 131_072;

/** A service file in base64 of UTF-8; parsed to its text. */
export const encodedTextField = z
  .base64({ error: 'must be base64' })
  .transform((encoded) => Buffer.from(encoded, 'base64'))
  .refine((bytes) => Buffer.from(bytes.toString('utf8')).equals(bytes), { error: 'must be text in UTF-8' })
  .transform((bytes) => bytes.toString('utf8'))
  .refine((text) => text.length <= maxServiceFile, { error: `must have ${maxServiceFile} characters at most` });

/** Control characters, line separators, and bidirectional overrides: names are shown next to other text. */
const unseen = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/**
 * A display name; names derived from it are checked separately. A longer text is not examined further: a body can have
 * 1 MiB, and compatibility normalization makes some characters 18 times as long.
 */
export const nameField = z
  .string()
  .trim()
  .min(1)
  .max(100, { abort: true })
  .refine((name) => name.isWellFormed() && !unseen.test(name), {
    error: 'must be Unicode text without control characters',
  });

const maxEmail = 254;

/**
 * An e-mail address, as browsers accept it; compared and stored in lower case. OpenAPI's format `email` is stricter, for
 * example about dots, so the document has the pattern alone.
 */
export const emailField = z
  .string()
  .max(maxEmail, { abort: true })
  .regex(z.regexes.html5Email, { error: 'must be an e-mail address' })
  .transform((email) => email.toLowerCase());
