import { z } from 'zod';

/** The part of a JSON schema that decides what is valid. */
export interface Schema {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  properties?: Record<string, Schema> | undefined;
  additionalProperties?: boolean | Schema | undefined;
  items?: Schema | undefined;
  required?: string[] | undefined;
  enum?: unknown[] | undefined;
  default?: unknown;
  pattern?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  $defs?: Record<string, Schema> | undefined;
}

export const schemaSchema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    properties: z.record(z.string(), schemaSchema).optional(),
    additionalProperties: z.union([z.boolean(), schemaSchema]).optional(),
    items: schemaSchema.optional(),
    required: z.array(z.string()).optional(),
    enum: z.array(z.unknown()).optional(),
    default: z.unknown().optional(),
    pattern: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    $defs: z.record(z.string(), schemaSchema).optional(),
  }),
);

export interface Changes {
  /** Paths that only the newer schema has. */
  added: string[];
  /** Why what the older schema permits may be refused, or mean something else. */
  broken: string[];
}

const minima = ['minimum', 'minLength', 'minItems'] as const;
const maxima = ['maximum', 'maxLength', 'maxItems'] as const;

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns values without names that the schema does not have. */
export function permittedValues(values: unknown, schema: Schema, resolve: Resolve = resolver(schema)): unknown {
  const { properties } = resolve(schema);
  if (!properties || !isMap(values)) return values;
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const child = properties[name];
      return child === undefined ? [] : [[name, permittedValues(value, child, resolve)]];
    }),
  );
}

/** Returns the differences of two schemas that users notice. References are resolved in the `$defs` of their document. */
export function changesOf(older: Schema, newer: Schema): Changes {
  const changes: Changes = { added: [], broken: [] };
  compare(resolver(older), resolver(newer), older, newer, '', changes);
  return changes;
}

type Resolve = (schema: Schema) => Schema;

function resolver({ $defs = {} }: Schema): Resolve {
  return (schema) => {
    const name = schema.$ref?.replace('#/$defs/', '');
    return name === undefined ? schema : { ...$defs[name], ...schema };
  };
}

function compare(
  ofOlder: Resolve,
  ofNewer: Resolve,
  left: Schema,
  right: Schema,
  path: string,
  changes: Changes,
): void {
  const older = ofOlder(left);
  const newer = ofNewer(right);
  changes.broken.push(...restrictions(older, newer).map((what) => `${path || 'the whole'}: ${what}`));
  const children = { ...newer.properties };
  for (const [name, schema] of Object.entries(older.properties ?? {})) {
    const child = children[name];
    const at = path === '' ? name : `${path}.${name}`;
    if (child === undefined) changes.broken.push(`${at} is removed`);
    else compare(ofOlder, ofNewer, schema, child, at, changes);
  }
  for (const name of Object.keys(children)) {
    if (older.properties && !(name in older.properties)) changes.added.push(path === '' ? name : `${path}.${name}`);
  }
  if (older.items && newer.items) compare(ofOlder, ofNewer, older.items, newer.items, `${path}[]`, changes);
  const [values, newValues] = [older.additionalProperties, newer.additionalProperties];
  if (typeof values === 'object' && typeof newValues === 'object') {
    compare(ofOlder, ofNewer, values, newValues, `${path}.*`, changes);
  }
}

function restrictions(older: Schema, newer: Schema): string[] {
  const found: string[] = [];
  const required = (newer.required ?? []).filter((name) => !(older.required ?? []).includes(name));
  if (required.length > 0) found.push(`${required.join(', ')} became required`);
  if (older.type !== undefined && JSON.stringify(older.type) !== JSON.stringify(newer.type)) {
    found.push(`the type ${String(older.type)} became ${String(newer.type)}`);
  }
  if (older.default !== undefined && JSON.stringify(older.default) !== JSON.stringify(newer.default)) {
    found.push(`the default ${JSON.stringify(older.default)} became ${JSON.stringify(newer.default)}`);
  }
  const gone = newer.enum ? (older.enum ?? []).filter((value) => !newer.enum?.includes(value)) : [];
  if (gone.length > 0) found.push(`${gone.join(', ')} ${gone.length > 1 ? 'are' : 'is'} not permitted any more`);
  if (newer.enum && !older.enum) found.push('only some values are permitted');
  if (newer.pattern !== undefined && newer.pattern !== older.pattern) found.push('another form is required');
  for (const key of minima) {
    if ((newer[key] ?? 0) > (older[key] ?? 0)) found.push(`${key} rose to ${newer[key]}`);
  }
  for (const key of maxima) {
    if ((newer[key] ?? Infinity) < (older[key] ?? Infinity)) found.push(`${key} fell to ${newer[key]}`);
  }
  if (newer.additionalProperties === false && older.additionalProperties !== false && !older.properties) {
    found.push('other names are refused');
  }
  return found;
}
