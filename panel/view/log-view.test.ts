import { describe, expect, test } from '@jest/globals';
import { matchRanges } from './log-filter.ts';
import { clockOf, levelOf, parseFrame, withoutTabs, type LogLine } from './log-line.ts';
import { LogView, windowOf } from './log-view.ts';
import { columnsOf, RowLayout } from './row-layout.ts';

function line(seq: number, text: string, more: Partial<LogLine> = {}): LogLine {
  return { seq, position: seq, time: '2026-01-01T00:00:00Z', service: 'web', stage: 'build', text, ...more };
}

describe('the layout of rows', () => {
  test('has one line per row without wrapping', () => {
    const layout = new RowLayout();
    for (let row = 0; row < 10; row += 1) layout.push('x'.repeat(500));
    expect([layout.height, layout.topOf(3), layout.indexAt(3.9), layout.indexAt(99)]).toEqual([10, 3, 3, 9]);
  });

  test('has as many lines per row as its text needs with wrapping', () => {
    const layout = new RowLayout(10);
    for (const text of ['', 'x'.repeat(10), 'x'.repeat(11), 'x'.repeat(35)]) layout.push(text);
    expect([0, 1, 2, 3, 4].map((row) => layout.topOf(row))).toEqual([0, 1, 2, 4, 8]);
    expect([0, 1, 2, 3.9, 4, 7, 100].map((height) => layout.indexAt(height))).toEqual([0, 1, 2, 2, 3, 3, 3]);
  });

  test('gives wide characters two columns', () => {
    expect([columnsOf('abc'), columnsOf('日本'), columnsOf('🚀'), columnsOf('é')]).toEqual([3, 4, 2, 1]);
  });

  test('has an empty window for an empty list', () => {
    expect(windowOf(new RowLayout(), { top: 0, height: 100, rowHeight: 20 })).toEqual({ first: 0, last: -1 });
  });

  test('has a window that covers what is visible, and some rows more', () => {
    const layout = new RowLayout();
    for (let row = 0; row < 1000; row += 1) layout.push('');
    expect(windowOf(layout, { top: 2000, height: 400, rowHeight: 20, margin: 5 })).toEqual({ first: 95, last: 125 });
  });
});

describe('a view of a log', () => {
  const lines = [
    line(1, 'starting'),
    line(2, 'Error: no such file', { service: 'api' }),
    line(3, '0 errors'),
    line(5, 'error again', { stage: 'rollout' }),
  ];

  test('shows the lines that the filter permits', () => {
    const seqs = (filter: ConstructorParameters<typeof LogView>[1]) =>
      new LogView(lines, filter, '').rows.map(({ seq }) => seq);
    expect(seqs({})).toEqual([1, 2, 3, 5]);
    expect(seqs({ service: 'api' })).toEqual([2]);
    expect(seqs({ stage: 'rollout' })).toEqual([5]);
    expect(seqs({ isErrorsOnly: true })).toEqual([2, 5]);
  });

  test('finds the rows that match a search, also in later lines', () => {
    const view = new LogView(lines, {}, 'ERROR');
    view.add([line(6, 'an ErRoR')]);
    expect(view.found).toEqual([1, 2, 3, 4]);
  });

  test('finds the row of a line, or the next one', () => {
    const view = new LogView(lines, {}, '');
    expect([1, 4, 5, 6].map((seq) => view.indexOf(seq))).toEqual([0, 3, 3, -1]);
  });
});

test('finds matches at their positions', () => {
  expect(matchRanges('a.B.a', 'A')).toEqual([
    [0, 1],
    [4, 5],
  ]);
  expect(matchRanges('İx', 'x')).toEqual([[1, 2]]);
});

test('derives the level of a line from its words', () => {
  expect(['fatal: no', 'WARNING: old', 'found 0 errors', 'terrors'].map(levelOf)).toEqual([
    ...['error', 'warning', 'plain', 'plain'],
  ]);
});

test('reads several messages from a frame', () => {
  const frame =
    '{"seq":1,"time":"t","service":"","stage":"clone","line":"x"}\n{"seq":2,"time":"t","end":{"result":"failed","message":"m"}}';
  expect(parseFrame(frame)).toMatchObject([{ line: 'x' }, { end: { result: 'failed' } }]);
});

test('gives a tab eight columns, and a clock milliseconds', () => {
  expect(withoutTabs('\tx')).toBe('        x');
  expect(clockOf('2026-01-01T10:00:05.1234Z')).toMatch(/^\d\d:\d\d:05\.123$/);
});
