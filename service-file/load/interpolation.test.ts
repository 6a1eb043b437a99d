import { describe, expect, test } from '@jest/globals';
import { interpolate, InterpolationError } from './interpolation.ts';

const variables = new Map([
  ['SET', 'v'],
  ['EMPTY', ''],
  ['_a1', 'x'],
  ['DOLLAR', '$SET'],
]);
const lookup = (name: string) => variables.get(name);

describe('a text with variables', () => {
  test.each([
    ['', ''],
    ['plain', 'plain'],
    ['$SET ${SET} a${SET}b', 'v v avb'],
    ['$SETS|$SET-S|${_a1}', '|v-S|x'],
    ['$$SET $$$SET $${SET}', '$SET $v ${SET}'],
    ['a$ $5 $- 5$', 'a$ $5 $- 5$'],
    ['${NONE:-d} ${EMPTY:-d} ${SET:-d}', 'd d v'],
    ['${NONE-d} ${EMPTY-d} ${SET-d}', 'd  v'],
    ['${NONE:+r} ${EMPTY:+r} ${SET:+r}', '  r'],
    ['${NONE+r} ${EMPTY+r} ${SET+r}', ' r r'],
    ['${SET:?m} ${SET?m} ${EMPTY?m}', 'v v '],
    ['${NONE:-${SET}} ${NONE:-${NONE-${NONE:-deep}}}', 'v deep'],
    ['${NONE:-a$SET$$b}', 'av$b'],
    ['${NONE-}', ''],
    ['${NONE:-:-?+}', ':-?+'],
    ['${NONE:-{"a":{}}} }', '{"a":{}} }'],
    ['${SET:-${NONE:?not needed}}', 'v'],
    ['${NONE:+${NONE:?not needed}}', ''],
    ['${DOLLAR}', '$SET'],
    ['${NONE:-two\nlines}', 'two\nlines'],
  ])('%j becomes %j', (text, expected) => {
    expect(interpolate(text, lookup).text).toBe(expected);
  });
});

test('reports which variables it contains, and which were not set', () => {
  const { used, unset } = interpolate('${SET} ${A} ${B:-${C}} ${SET:-${D}} ${E:+$F} $EMPTY', lookup);
  expect([...used]).toEqual(['SET', 'EMPTY']);
  expect([...unset]).toEqual(['A', 'C']);
});

describe('a text that cannot be filled in', () => {
  test.each([
    ['${NONE:?say why}', 'needs the variable NONE, which is not set ("say why"): set it'],
    ['${EMPTY:?}', 'needs the variable EMPTY, which is empty'],
    ['${NONE?$SET}', 'needs the variable NONE, which is not set ("$SET"): set it'],
    ['${}', 'without a name'],
    ['${5}', 'without a name'],
    ['${SET', 'followed by something other than'],
    ['${SET/a/b}', 'followed by something other than'],
    ['${SET:-a', 'without the closing }'],
    ['${A:-'.repeat(50) + '}'.repeat(50), 'nested more than'],
  ])('%s: %s', (text, message) => {
    expect(() => interpolate(text, lookup)).toThrow(InterpolationError);
    expect(() => interpolate(text, lookup)).toThrow(message);
  });
});

test.each([
  ['$'.repeat(120_000)],
  ['${'.repeat(60_000)],
  ['${A:-'.repeat(24_000)],
  ['{'.repeat(60_000) + '}'.repeat(60_000)],
  [`\${A:-${'{'.repeat(60_000)}`],
  ['${A:-}'.repeat(20_000)],
  ['$A'.repeat(60_000)],
])('takes time linear in the length of hostile text: %.20j', (text) => {
  const start = performance.now();
  try {
    interpolate(text, () => 'x'.repeat(60_000));
  } catch (error) {
    expect(error).toBeInstanceOf(InterpolationError);
  }
  expect(performance.now() - start).toBeLessThan(2000);
});
