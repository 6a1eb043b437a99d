import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { customResourceDefinitions } from './crd.ts';

interface Field {
  description?: string | undefined;
  properties?: Record<string, Field> | undefined;
  items?: Field | undefined;
  additionalProperties?: Field | undefined;
  'x-kubernetes-validations'?: { rule: string }[] | undefined;
}
const fieldSchema: z.ZodType<Field> = z.lazy(() =>
  z.looseObject({
    description: z.string().optional(),
    properties: z.record(z.string(), fieldSchema).optional(),
    items: fieldSchema.optional(),
    additionalProperties: fieldSchema.optional(),
    'x-kubernetes-validations': z.array(z.looseObject({ rule: z.string() })).optional(),
  }),
);
const definitionSchema = z.looseObject({
  spec: z.looseObject({
    versions: z.array(z.looseObject({ schema: z.looseObject({ openAPIV3Schema: fieldSchema }) })),
  }),
});

/** Returns the schemas of a kind's spec and status. */
function partsOf(definition: object): Record<string, Field> {
  const [version] = definitionSchema.parse(definition).spec.versions;
  const { spec, status } = version?.schema.openAPIV3Schema.properties ?? {};
  if (!spec || !status) throw new Error('a kind has no spec or no status');
  return { spec, status };
}

/** Returns the paths of the fields without a description, from `name` down. */
function undescribed(name: string, { description, properties = {}, items, additionalProperties }: Field): string[] {
  const below = [
    ...Object.entries(properties).map(([key, field]) => undescribed(`${name}.${key}`, field)),
    // An element of a list has no line in `kubectl explain`, but its fields have.
    ...[items, additionalProperties].map((inner) =>
      inner ? undescribed(`${name}[]`, { description: '', ...inner }) : [],
    ),
  ].flat();
  return description === undefined ? [name, ...below] : below;
}

test.each(customResourceDefinitions())('describes every field of $plural', ({ definition }) => {
  const parts = Object.entries(partsOf(definition));
  expect(parts.flatMap(([name, field]) => undescribed(name, field))).toEqual([]);
});

test('finds a field without a description, however deep', () => {
  const field = { description: 'a', properties: { list: { description: 'b', items: { properties: { name: {} } } } } };
  expect(undescribed('spec', field)).toEqual(['spec.list[].name']);
});

test('requires an hour for a scheduled rebuild', () => {
  const definition = customResourceDefinitions().find(({ plural }) => plural === 'repositories')?.definition ?? {};
  const field = partsOf(definition)['spec']?.properties?.['scheduledRebuild'];
  expect(field?.['x-kubernetes-validations']?.map(({ rule }) => rule)).toEqual([
    "self.mode == 'disabled' || has(self.hour)",
  ]);
});
