import { describe, expect, test } from '@jest/globals';
import { LogLostError, planAppend, planEnd, type PlannedLine, planOnce } from './append-plan.ts';
import { LogState } from './state.ts';

const limits = { maxBytes: 1024 * 1024, maxLines: 6 };
const time = '2026-11-21T10:00:00Z';
const lines = (...texts: string[]): PlannedLine[] =>
  texts.map((line) => ({ time, service: 'web', stage: 'build', line }));
const texts = (plan: { messages: readonly object[] }): unknown[] =>
  plan.messages.map((message) => ('line' in message ? message.line : message));

describe('append', () => {
  test.each([
    ['all of a new source', {}, 0, ['a', 'b'], ['a', 'b'], 2],
    ['all following lines', { 'lines:s': '2', 'bytes:s': '4' }, 2, ['c'], ['c'], 3],
    ['only lines that are not stored', { 'lines:s': '2', 'bytes:s': '4' }, 1, ['b', 'c'], ['c'], 3],
    ['nothing when all lines are stored', { 'lines:s': '2' }, 0, ['a', 'b'], [], undefined],
    ['nothing after the end', { end: '1' }, 5, ['a'], [], undefined],
    ['is not affected by lines of another source', { 'lines:t': '7', 'cut:t': '1' }, 0, ['a'], ['a'], 1],
  ])('%s', (_, fields, first, given, written, cursor) => {
    const plan = planAppend(new LogState(fields), 's', first, lines(...given), limits);
    expect(texts(plan)).toEqual(written);
    expect(new Map(plan.change).get('lines:s')).toBe(cursor === undefined ? undefined : String(cursor));
  });

  test('reports once that the limit was exceeded, and only counts further lines', () => {
    const state = new LogState({});
    const notice = '[this log is longer than 1 MiB: the rest is omitted]';
    const long = 'x'.repeat(600 * 1024);
    const first = planAppend(state, 's', 0, lines(long, long, 'c'), limits);
    expect(texts(first)).toEqual([long, notice]);
    state.apply(first.change);
    expect(state.lines('s')).toBe(3);
    const second = planAppend(state, 's', 3, lines('d'), limits);
    expect(texts(second)).toEqual([]);
    state.apply(second.change);
    expect(state.lines('s')).toBe(4);
  });

  test('reports the same beyond the number of lines', () => {
    const plan = planAppend(new LogState({ 'lines:s': '4' }), 's', 4, lines('e', 'f', 'g', 'h'), limits);
    expect(texts(plan)).toEqual(['e', 'f', '[this log is longer than 6 lines: the rest is omitted]']);
    expect(new Map(plan.change).get('lines:s')).toBe('8');
  });

  test('throws for a gap', () => {
    expect(() => planAppend(new LogState({ 'lines:s': '1' }), 's', 2, lines('c'), limits)).toThrow(LogLostError);
  });
});

test('writes a line of the operator once per key, and not after the end', () => {
  const state = new LogState({});
  const [line] = lines('a') as [PlannedLine];
  const plan = planOnce(state, 'start', line);
  expect(plan.messages).toEqual([line]);
  state.apply(plan.change);
  expect(planOnce(state, 'start', line).change).toEqual([]);
  expect(planOnce(new LogState({ end: '1' }), 'start', line).change).toEqual([]);
});

test('writes the end once', () => {
  const state = new LogState({});
  const plan = planEnd(state, time, 'failed', 'no');
  expect(plan.messages).toEqual([{ time, end: { result: 'failed', message: 'no' } }]);
  state.apply(plan.change);
  expect(planEnd(state, time, 'succeeded', 'yes').change).toEqual([]);
});
