import { expect, test } from '@jest/globals';
import { changesOf, permittedValues, type Schema } from './schema-changes.ts';

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});

test.each<[what: string, older: Schema, newer: Schema, broken: string[]]>([
  ['a removed field', object({ a: {}, b: {} }), object({ a: {} }), ['b is removed']],
  [
    'a required field',
    object({ a: {} }),
    object({ a: {}, b: {} }, { required: ['b'] }),
    ['the whole: b became required'],
  ],
  [
    'another type',
    object({ a: { type: 'string' } }),
    object({ a: { type: 'integer' } }),
    ['a: the type string became integer'],
  ],
  ['another default', object({ a: { default: 1 } }), object({ a: { default: 2 } }), ['a: the default 1 became 2']],
  [
    'a removed choice',
    object({ a: { enum: ['x', 'y'] } }),
    object({ a: { enum: ['x'] } }),
    ['a: y is not permitted any more'],
  ],
  ['choices', object({ a: {} }), object({ a: { enum: ['x'] } }), ['a: only some values are permitted']],
  ['another form', object({ a: { pattern: '^a' } }), object({ a: { pattern: '^b' } }), ['a: another form is required']],
  ['a higher minimum', object({ a: { minimum: 1 } }), object({ a: { minimum: 2 } }), ['a: minimum rose to 2']],
  ['a lower maximum', object({ a: { maxLength: 9 } }), object({ a: { maxLength: 8 } }), ['a: maxLength fell to 8']],
  [
    'a new maximum of a list',
    object({ a: { items: {} } }),
    object({ a: { items: {}, maxItems: 3 } }),
    ['a: maxItems fell to 3'],
  ],
  [
    'a change below a list',
    object({ a: { items: object({ b: {} }) } }),
    object({ a: { items: object({}) } }),
    ['a[].b is removed'],
  ],
  [
    'a change below a map',
    { additionalProperties: { type: 'string' } },
    { additionalProperties: { type: 'integer' } },
    ['.*: the type string became integer'],
  ],
  [
    'a change of what a reference names',
    { ...object({ a: { $ref: '#/$defs/x' } }), $defs: { x: { type: 'string' } } },
    { ...object({ a: { $ref: '#/$defs/x' } }), $defs: { x: { type: 'integer' } } },
    ['a: the type string became integer'],
  ],
])('finds %s', (_what, older, newer, broken) => expect(changesOf(older, newer).broken).toEqual(broken));

test('permits new fields, choices and wider limits, and lists the fields', () => {
  const older = object({ a: { enum: ['x'], maximum: 3 }, b: object({ c: {} }), d: { pattern: '^d' } });
  const newer = object({ a: { enum: ['x', 'y'], maximum: 4 }, b: object({ c: {}, e: {} }), d: {}, f: {} });
  expect(changesOf(older, newer)).toEqual({ added: ['b.e', 'f'], broken: [] });
});

test('keeps values that an older schema has', () => {
  const schema = { ...object({ a: { $ref: '#/$defs/x' }, map: {} }), $defs: { x: object({ b: {} }) } };
  expect(permittedValues({ a: { b: 1, c: 2 }, map: { any: 3 }, d: 4 }, schema)).toEqual({
    a: { b: 1 },
    map: { any: 3 },
  });
});
