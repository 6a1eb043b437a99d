import { describe, expect, test } from '@jest/globals';
import {
  MAX_HISTORY_BYTES,
  MAX_NUMBERS,
  MAX_TESTED_BUILDS,
  MAX_TESTS,
  testHistoryIn,
  type Finding,
  type TestHistory,
} from '../../../crds/test-history.ts';
import type { ResultItem } from '../../../tester-client/interface.ts';
import { numbersOf, withFinding } from './history.ts';

const finishedAt = '2026-01-01T00:00:00.000Z';
const commit = 'c'.repeat(64);

function item(Label: string, text: string, Type: ResultItem['Type'] = 'number'): ResultItem {
  return { Label, Type, Content: Buffer.from(text).toString('base64') };
}

function finding(name: string, value = 1): Finding {
  return { name, outcome: 'passed', numbers: [['time /', value]] };
}

/** Adds findings of builds in this order. */
function after(...findings: [build: number, Finding, commit?: string][]): TestHistory {
  return findings.reduce<TestHistory>(
    (history, [build, one, of = commit]) => withFinding(history, { build, commit: of, finishedAt }, one),
    [],
  );
}

const shown = (history: TestHistory) =>
  history.map(({ build, tests }) => [build, ...tests.map(({ name, numbers }) => `${name} ${numbers[0]?.[1] ?? ''}`)]);

describe('numbers in results', () => {
  test.each<[string, string, number | undefined]>([
    ['an integer', '12', 12],
    ['a fraction', '-0.25', -0.25],
    ['the largest number', '1.7976931348623157e+308', 1.7976931348623157e308],
    ['the smallest', '-5e-324', -5e-324],
    ['NaN', 'NaN', undefined],
    ['infinity', 'Infinity', undefined],
    ['what overflows', '1e999', undefined],
    ['nothing', '', undefined],
    ['a space', ' ', undefined],
    ['a hexadecimal number', '0x10', undefined],
    ['two lines', '1\n2', undefined],
    ['many digits', '1'.repeat(100), undefined],
    ['an object', '{"valueOf":1}', undefined],
  ])('%s', (_what, text, value) => {
    expect(numbersOf([item('x', text)])).toEqual(value === undefined ? [] : [['x', value]]);
  });

  test.each<[string, ResultItem[], Finding['numbers']]>([
    ['texts are left out', [item('title', '1', 'string'), item('shot', '1', 'image')], []],
    ['a label is one line', [item('time /\n\u001b[31m\u202ex\u0000', '1')], [['time / x', 1]]],
    ['a label is cut', [item('a'.repeat(41), '1')], [[`${'a'.repeat(39)}…`, 1]]],
    ['an invisible label is left out', [item('\u200b\u202e', '1')], []],
    ['the first of a label counts', [item('x', '1'), item('x', '2')], [['x', 1]]],
    [
      'a label is only a text',
      [item('__proto__', '1'), item('constructor', '2')],
      [
        ['__proto__', 1],
        ['constructor', 2],
      ],
    ],
  ])('%s', (_what, items, numbers) => expect(numbersOf(items)).toEqual(numbers));

  test('are limited', () => {
    const many = Array.from({ length: 1000 }, (_none, index) => item(`x${index}`, '1'));
    expect(numbersOf(many)).toHaveLength(MAX_NUMBERS);
  });
});

describe('the history', () => {
  test.each<[string, TestHistory, unknown]>([
    [
      'has the newest build first',
      after([1, finding('a')], [3, finding('a')]),
      [
        [3, 'a 1'],
        [1, 'a 1'],
      ],
    ],
    ['has all tests of a build', after([1, finding('a')], [1, finding('b')]), [[1, 'a 1', 'b 1']]],
    [
      'has the last run of a build and test',
      after([1, finding('a')], [2, finding('a')], [2, finding('b')], [2, finding('a', 5)]),
      [
        [2, 'b 1', 'a 5'],
        [1, 'a 1'],
      ],
    ],
    [
      'starts again with the numbers of builds',
      after([1, finding('a')], [2, finding('a')], [1, finding('b'), 'd']),
      [[1, 'b 1']],
    ],
  ])('%s', (_what, history, expected) => expect(shown(history)).toEqual(expected));

  test('has the last builds only', () => {
    const history = after(
      ...Array.from({ length: 50 }, (_none, index): [number, Finding] => [index + 1, finding('a')]),
    );
    expect(history).toHaveLength(MAX_TESTED_BUILDS);
    expect([history[0]?.build, history.at(-1)?.build]).toEqual([50, 31]);
  });

  test('is bounded in bytes, and keeps all tests of the newest build, however large a repository makes them', () => {
    const value = '-1.7976931348623157e+308';
    const labels = Array.from({ length: MAX_NUMBERS }, (_none, index) => `${index}${'😀'.repeat(100)}`);
    const numbers = numbersOf(labels.map((label) => item(label, value)));
    const findings = Array.from({ length: 300 }, (_none, index): [number, Finding] => [
      Number.MAX_SAFE_INTEGER - 40 + Math.floor(index / MAX_TESTS),
      { name: `${index % MAX_TESTS}`.padStart(40, 'n'), outcome: 'passed', numbers },
    ]);
    const history = after(...findings);
    expect(history[0]?.tests).toHaveLength(MAX_TESTS);
    expect(history[0]?.tests[0]?.numbers).toHaveLength(MAX_NUMBERS);
    expect(Buffer.byteLength(JSON.stringify(history))).toBeLessThanOrEqual(MAX_HISTORY_BYTES);
    expect(testHistoryIn(JSON.stringify(history))).toEqual(history);
  });
});

test.each<[string, string | undefined]>([
  ['no text', undefined],
  ['no JSON', '['],
  ['another shape', '[{"build":0}]'],
  ['a number that overflows', JSON.stringify(after([1, finding('a')])).replace('",1]', '",1e999]')],
  ['too many builds', JSON.stringify(Array.from({ length: 21 }, () => after([1, finding('a')])[0]))],
  ['too long a text', `${JSON.stringify(after([1, finding('a')]))}${' '.repeat(MAX_HISTORY_BYTES)}`],
])('a stored text that a user has changed is empty: %s', (_what, text) => {
  expect(testHistoryIn(text)).toEqual([]);
});
