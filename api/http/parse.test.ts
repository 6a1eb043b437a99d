import { expect, test } from '@jest/globals';
import { booleanField, emailField, encodedTextField, integerField, lineField, nameField, textField } from './parse.ts';

const lone = '\ud83d';

test.each([
  ['The shop', 'The shop'],
  ['  The shop ', 'The shop'],
  ['Лавка 店 👩‍🌾', 'Лавка 店 👩‍🌾'],
  ['x'.repeat(100), 'x'.repeat(100)],
  ['x'.repeat(101), undefined],
  ['', undefined],
  [' ', undefined],
  ['a\0b', undefined],
  ['a\nb', undefined],
  ['a\u2028b', undefined],
  ['a\u202eb', undefined],
  [`a${lone}`, undefined],
  [5, undefined],
])('reads the name %j as %j', (value, expected) => {
  expect(nameField.safeParse(value).data).toBe(expected);
});

test.each([
  ['a name', nameField, '\ufdfa'.repeat(101)],
  ['an e-mail address', emailField, `${'a'.repeat(300)}@example.com`],
])('%s that is too long is not examined further', (_, field, text) => {
  let examined = 0;
  const derived = field.refine(() => {
    examined += 1;
    return true;
  });
  expect([derived.safeParse(text).success, examined]).toEqual([false, 0]);
});

test.each([
  ['two\nlines\t', 'two\nlines\t'],
  ['', ''],
  [true, 'true'],
  [1.5, '1.5'],
  ['a\0', undefined],
  [lone, undefined],
  [null, undefined],
  [['a'], undefined],
])('reads the text %j as %j', (value, expected) => {
  expect(textField.safeParse(value).data).toBe(expected);
});

test.each([
  ['päss wörd', 'päss wörd'],
  ['a\nhost=evil.example', undefined],
  ['a\r', undefined],
  ['a\0', undefined],
  [lone, undefined],
])('reads the line %j as %j', (value, expected) => {
  expect(lineField.safeParse(value).data).toBe(expected);
});

test.each([
  [true, true],
  ['false', false],
  ['TRUE', undefined],
  ['', undefined],
  [1, undefined],
  [null, undefined],
])('reads the boolean %j as %j', (value, expected) => {
  expect(booleanField.safeParse(value).data).toBe(expected);
});

test.each([
  [0, 0],
  [10, 10],
  ['10', 10],
  [11, undefined],
  [-1, undefined],
  ['-1', undefined],
  [1.5, undefined],
  ['1e1', undefined],
  ['', undefined],
  [' 1', undefined],
  ['9'.repeat(16), undefined],
  [true, undefined],
])('reads an integer from 0 to 10, %j, as %j', (value, expected) => {
  expect(integerField(0, 10).safeParse(value).data).toBe(expected);
});

test.each([
  ['YTogYgo=', 'a: b\n'],
  ['', ''],
  ['YTogYgo', undefined],
  ['/w==', undefined],
  ['%', undefined],
  [Buffer.from('x'.repeat(131_073)).toString('base64'), undefined],
])('reads the base64 %j as %j', (value, expected) => {
  expect(encodedTextField.safeParse(value).data).toBe(expected);
});
