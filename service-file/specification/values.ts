import { z } from 'zod';

/** A schema whose error is what the value must be: "text". */
function leaf(name: string, test: (value: unknown) => boolean) {
  return z.custom<unknown>(test, { error: name });
}

/** A number or a boolean is text as it is written, as everywhere in Coppice. */
export const text = leaf('text', (value) => ['string', 'number', 'boolean'].includes(typeof value));

/** With its unit, or a plain number. */
export const amount = leaf('a number', (value) => typeof value === 'number' || isFilled(value));

export const integer = leaf(
  'a whole number',
  (value) => Number.isInteger(value) || (typeof value === 'string' && /^[-+]?\d+$/.test(value)),
);

/** As compose-go reads a text that variables were filled into. */
export const flag = leaf(
  'true or false',
  (value) =>
    typeof value === 'boolean' || (typeof value === 'string' && /^(?:true|false|y|yes|n|no|on|off)$/i.test(value)),
);

export function oneOf(...values: string[]) {
  return leaf(`one of ${values.join(', ')}`, (value) => typeof value === 'string' && values.includes(value));
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

export const list = <T extends z.ZodType>(item: T) => z.array(item);

export const texts = list(text);

/** One text, or several. */
export const textOrTexts = z.union([text, texts]);

/** What authors name: services, volumes, networks. */
export const named = <T extends z.ZodType>(value: T) =>
  z.record(
    z.string().regex(/^[\w.-]+$/, { error: 'is not a name: use letters, digits, ., _ and -' }),
    value.nullable(),
  );

export const mapOf = <T extends z.ZodType>(value: T) => z.record(z.string(), value.nullable());

/** `NAME=value` in a list, or a map. */
export const variables = z.union([mapOf(text), texts]);

/** Hosts and their addresses. */
export const hosts = z.union([mapOf(textOrTexts), texts]);

export const command = textOrTexts;

/**
 * A map of known keys, each of which may be left out or empty; extensions (`x-…`) are not looked at. `of` is what the
 * map is, for the message of a key that is none of it.
 */
export function map(of: string, keys: Readonly<Record<string, z.ZodType>>) {
  const shape = Object.fromEntries(Object.entries(keys).map(([key, schema]) => [key, schema.nullish()]));
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? of : undefined) });
}
