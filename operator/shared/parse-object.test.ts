import { expect, test } from '@jest/globals';
import { groupSchema, type Group } from '../../crds/group.ts';
import { parseObject } from './parse-object.ts';

const group: Group = { apiVersion: 'v', kind: 'Group', metadata: { name: 'acme' }, spec: { members: ['a@b.example'] } };

test('returns a valid object with defaults, as a copy', () => {
  const { object, problem } = parseObject(groupSchema, { ...group, spec: {} } as Group);
  expect(problem).toBeUndefined();
  expect(object).toEqual({ ...group, spec: { members: [] } });
});

test('returns an invalid object unchanged, with its errors', () => {
  const wrong = { ...group, spec: { members: ['nobody'] } };
  const { object, problem } = parseObject(groupSchema, wrong);
  expect(object).toEqual(wrong);
  expect(object).not.toBe(wrong);
  expect(problem).toMatchObject({ reason: 'Invalid', message: expect.stringMatching(/^spec\.members\.0: /) });
});
