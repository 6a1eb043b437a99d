import { expect, test } from '@jest/globals';
import type { ChangedObject } from './change.ts';
import { ChangeLog } from './change-log.ts';

const group = (key: string): ChangedObject => ({ kind: 'group', key, id: key, group: `group-${key}` });

test('remembers the last change of each object after the version up to which it was read', () => {
  const log = new ChangeLog();
  log.add(group('a'), '9', '10', ['listed@example.org']);
  log.add(group('a'), '11', '10', ['one@example.org']);
  log.add(group('b'), '12', '11', []);
  log.add(group('a'), '13', '12', ['two@example.org']);
  expect(log.after('9', '13')).toBeUndefined();
  expect(log.after('12', '13')?.map(({ object, emails }) => [object.key, [...emails]])).toEqual([
    ['a', ['one@example.org', 'two@example.org']],
  ]);
});

test('forgets a group of which too many addresses were added and removed, and clients read everything again', () => {
  const log = new ChangeLog();
  for (let version = 1; version <= 1001; version++)
    log.add(group('a'), String(version), String(version - 1), [`${version}@example.org`]);
  expect(log.after('1000', '1001')).toBeUndefined();
  expect(log.after('1001', '1001')).toEqual([]);
  log.add(group('a'), '1002', '1001', ['next@example.org']);
  expect(log.after('1001', '1002')?.map(({ emails }) => [...emails])).toEqual([['next@example.org']]);
});
