import { expect, test } from '@jest/globals';
import { EventParser } from './event-parser.ts';

test('returns events that arrive in pieces, with the ID of their block', () => {
  const parser = new EventParser();
  expect(parser.push('event: change\nda')).toEqual([]);
  expect(parser.push('ta: {"a":\ndata: 1}\n')).toEqual([]);
  expect(parser.push('\nid: 7\n\nevent: ready\ndata: {}\n\n')).toEqual([
    { type: 'change', data: '{"a":\n1}' },
    { type: 'ready', data: '{}' },
  ]);
  expect(parser.lastEventId).toBe('7');
});

test('returns no event for a heartbeat, and keeps its ID', () => {
  const parser = new EventParser();
  expect(parser.push(': heartbeat\nid: 8\n\n')).toEqual([]);
  expect(parser.lastEventId).toBe('8');
});

test('reads a line without a colon as a field without a value', () => {
  expect(new EventParser().push('data\n\n')).toEqual([{ type: 'message', data: '' }]);
});
