import { z } from 'zod';

/** Returns a schema whose error is a description of the permitted value: "text". */
function leaf(name: string, test: (value: unknown) => boolean) {
  return z.custom<unknown>(test, { error: name });
}

/** Text; numbers and booleans are accepted as text, as everywhere in Coppice. */
export const text = leaf('text', (value) => ['string', 'number', 'boolean'].includes(typeof value));

/** A number, or a text with a unit. */
export const amount = leaf('a number', (value) => typeof value === 'number' || isFilled(value));

export const integer = leaf(
  'a whole number',
  (value) => Number.isInteger(value) || (typeof value === 'string' && /^[-+]?\d+$/.test(value)),
);

/** A boolean, or a text with which compose-go accepts it after filling in variables. */
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

/** A map by names that authors choose: services, volumes, networks. */
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
 * A map of known keys, each of which can be absent or empty; extensions (`x-…`) are ignored. `of` names the map in
 * messages about unknown keys.
 */
export function map(of: string, keys: Readonly<Record<string, z.ZodType>>) {
  const shape = Object.fromEntries(Object.entries(keys).map(([key, schema]) => [key, schema.nullish()]));
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? of : undefined) });
}
