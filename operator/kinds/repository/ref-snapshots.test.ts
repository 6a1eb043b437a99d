import { expect, test } from '@jest/globals';
import { refSnapshotSchema } from '../../../crds/ref-snapshot.ts';
import type { RefFacts } from '../../../crds/rule-decision.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { refSnapshot, RefSnapshots } from './ref-snapshots.ts';

const at = new Date('2026-01-01T00:00:00Z');
const facts = {
  labels: ['preview'],
  targetBranch: 'main',
  sourceBranch: 'a',
  isDraft: false,
  isFork: true,
  author: { isMember: true },
};

test('keeps all refs of a usual repository, newest first where that is known', () => {
  const refs: RefFacts[] = [
    { type: 'branch', name: 'main' },
    { type: 'tag', name: 'v1.9' },
    { type: 'tag', name: 'v1.10' },
    { type: 'pull request', name: '9' },
    { type: 'pull request', name: '10', ...facts },
  ];
  const snapshot = refSnapshot(refs, at);
  expect(snapshot).toEqual({
    at: '2026-01-01T00:00:00.000Z',
    branches: ['main'],
    tags: ['v1.10', 'v1.9'],
    pullRequests: [{ number: 10, ...facts }, { number: 9 }],
    leftOut: { branches: 0, tags: 0, pullRequests: 0 },
  });
  expect(refSnapshotSchema.parse(JSON.parse(JSON.stringify(snapshot)))).toEqual(snapshot);
});

test('has a bounded size, and counts what does not fit', () => {
  const many = (type: RefFacts['type'], prefix: string, rest: Partial<RefFacts> = {}) =>
    Array.from({ length: 5000 }, (_, index): RefFacts => ({ type, name: `${prefix}${index + 1}`, ...rest }));
  const long = { ...facts, labels: Array<string>(100).fill('ü'.repeat(50)) };
  const refs = [...many('branch', '日'.repeat(60)), ...many('tag', 'v'), ...many('pull request', '', long)];
  const snapshot = refSnapshot(refs, at);
  expect(JSON.stringify(snapshot).length).toBeLessThan(50_000);
  expect(snapshot.tags.slice(0, 2)).toEqual(['v5000', 'v4999']);
  expect(snapshot.pullRequests[0]?.number).toBe(5000);
  for (const type of ['branches', 'tags', 'pullRequests'] as const) {
    expect(snapshot[type].length).toBeGreaterThan(0);
    expect(snapshot[type].length + snapshot.leftOut[type]).toBe(5000);
  }
});

test('writes for a day, removes, and does not fail without Redis', async () => {
  const calls: unknown[] = [];
  const redis = {
    set: (...given: unknown[]) => Promise.resolve(calls.push(given)),
    del: (key: string) => Promise.reject(new Error(key)),
  };
  const snapshots = new RefSnapshots(redis, silentLogger);
  snapshots.write('u', [{ type: 'branch', name: 'main' }], at);
  expect(calls).toEqual([
    ['coppice:refs:u', expect.stringContaining('"main"'), { expiration: { type: 'PX', value: 86_400_000 } }],
  ]);
  snapshots.forget('u');
  await new Promise(setImmediate);
});
