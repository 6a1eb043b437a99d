import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHART } from './render.ts';

/** The schema of one value in values.schema.json. */
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

/** A value of the chart without nested values: a text, a number, a list, or a map with names that users choose. */
export interface Leaf {
  /** Such as api.tls.secretName. */
  path: string;
  schema: ValueSchema;
  /** Default in values.yaml; undefined if it is not there. */
  preset: unknown;
}

/** Values with a common name, such as api.tls. */
export interface Group {
  path: string;
  description: string | undefined;
}

const root = rootSchema.parse(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')));
const presets: unknown = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));

/** Returns the schema with its reference resolved; its own fields take precedence. */
export function resolved(schema: ValueSchema): ValueSchema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : { ...root.$defs[name], ...schema };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entriesBelow(schemas: Record<string, ValueSchema>, values: unknown, above: string): (Group | Leaf)[] {
  return Object.entries(schemas).flatMap(([name, given]) => {
    const schema = resolved(given);
    const preset = isMap(values) ? values[name] : undefined;
    const path = `${above}${name}`;
    if (!schema.properties) return [{ path, schema, preset }];
    return [{ path, description: schema.description }, ...entriesBelow(schema.properties, preset, `${path}.`)];
  });
}

/** All values and groups in the schema; each group is before its values. */
export const ENTRIES = entriesBelow(root.properties, presets, '');

export const isLeaf = (entry: Group | Leaf): entry is Leaf => 'schema' in entry;

/** All values in the schema. */
export const LEAVES = ENTRIES.filter(isLeaf);

/** Returns the paths of all values in values.yaml, down to the schema's leaves. */
export function presetPaths(values: unknown = presets, above = ''): string[] {
  const known = new Set(LEAVES.map(({ path }) => path));
  if (known.has(above.slice(0, -1)) || !isMap(values)) return [above.slice(0, -1)];
  return Object.entries(values).flatMap(([name, value]) => presetPaths(value, `${above}${name}.`));
}

/** Returns the values with another value at the path. */
export function withValue(values: object, path: string, value: unknown): object {
  const [first = '', ...rest] = path.split('.');
  const old = isMap(values) ? values[first] : undefined;
  return { ...values, [first]: rest.length === 0 ? value : withValue(isMap(old) ? old : {}, rest.join('.'), value) };
}

export function valueAt(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isMap(value) ? value[name] : undefined), values);
}
