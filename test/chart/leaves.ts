import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { chart } from './render.ts';

/** What values.schema.json says of one value. */
export interface ValueSchema {
  $ref?: string | undefined;
  type?: string | undefined;
  description?: string | undefined;
  enum?: unknown[] | undefined;
  pattern?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  anyOf?: ValueSchema[] | undefined;
  items?: ValueSchema | undefined;
  additionalProperties?: boolean | ValueSchema | undefined;
  properties?: Record<string, ValueSchema> | undefined;
}

const valueSchema: z.ZodType<ValueSchema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    pattern: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    anyOf: z.array(valueSchema).optional(),
    items: valueSchema.optional(),
    additionalProperties: z.union([z.boolean(), valueSchema]).optional(),
    properties: z.record(z.string(), valueSchema).optional(),
  }),
);
const rootSchema = z.looseObject({
  properties: z.record(z.string(), valueSchema),
  $defs: z.record(z.string(), valueSchema),
});

/** One value of the chart that holds no others: a text, a number, a list, a map of names that the user chooses. */
export interface Leaf {
  /** Such as api.tls.secretName. */
  path: string;
  schema: ValueSchema;
  /** As values.yaml has it; undefined where it does not name it. */
  preset: unknown;
}

const root = rootSchema.parse(JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')));
const presets: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));

/** With what it refers to; its own words count. */
export function resolved(schema: ValueSchema): ValueSchema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : { ...root.$defs[name], ...schema };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function leavesBelow(schemas: Record<string, ValueSchema>, values: unknown, above: string): Leaf[] {
  return Object.entries(schemas).flatMap(([name, given]) => {
    const schema = resolved(given);
    const preset = isMap(values) ? values[name] : undefined;
    const path = `${above}${name}`;
    return schema.properties ? leavesBelow(schema.properties, preset, `${path}.`) : [{ path, schema, preset }];
  });
}

/** All values that the schema knows. */
export const leaves = leavesBelow(root.properties, presets, '');

/** The paths of all that values.yaml names, down to what the schema holds no more of. */
export function presetPaths(values: unknown = presets, above = ''): string[] {
  const known = new Set(leaves.map(({ path }) => path));
  if (known.has(above.slice(0, -1)) || !isMap(values)) return [above.slice(0, -1)];
  return Object.entries(values).flatMap(([name, value]) => presetPaths(value, `${above}${name}.`));
}

/** The same values with another one at the path. */
export function withValue(values: object, path: string, value: unknown): object {
  const [first = '', ...rest] = path.split('.');
  const old = isMap(values) ? values[first] : undefined;
  return { ...values, [first]: rest.length === 0 ? value : withValue(isMap(old) ? old : {}, rest.join('.'), value) };
}

export function valueAt(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isMap(value) ? value[name] : undefined), values);
}
