import { describe, expect, test } from '@jest/globals';
import { localReturn } from '../api/paths.ts';
import type { EnvironmentItem } from '../api/items.ts';
import { decodeText, encodeText } from './base64.ts';
import { commitUrl } from './commit-url.ts';
import { problemOf } from './conditions.ts';
import { listQuery } from './list-query.ts';
import { cpuText } from './cpu.ts';
import { byUrgency, mergeItem, needsAttention, withoutItem } from './merge-items.ts';
import { depthOf, inDependencyOrder } from './service-order.ts';
import { shownState } from './shown-state.ts';
import { sparklinePath } from './sparkline.ts';
import { offsetOf } from './text-position.ts';
import { segmentsOf } from './timeline.ts';

describe('where a login returns to', () => {
  test.each(['/environments/acme.shop-main?tab=logs', '/sign-in/device?code=x#y', '/'])(
    'is a page of this site: %s',
    (path) => {
      expect(localReturn(path)).toBe(path);
    },
  );

  test.each([
    undefined,
    '',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n\\evil.example',
    '/.//evil.example',
    '//[',
    '/sign-in',
    '/./register?a=b',
  ])('is never elsewhere: %p', (path) => {
    expect(localReturn(path)).toBe('/');
  });
});

test.each([
  [{ status: 'built', health: 'healthy' }, 'built'],
  [{ status: 'built', health: 'degraded' }, 'degraded'],
  [{ status: 'created', health: 'failed' }, 'failed'],
  [{ status: 'building', health: 'failed' }, 'building'],
  [{ status: 'empty', health: 'inactive' }, 'empty'],
  [{ status: 'built', health: 'inactive', asleep: true }, 'asleep'],
  [{ status: 'building', health: 'progressing', removing: true }, 'deleting'],
  [{ status: 'empty', health: 'progressing', deleting: true }, 'deleting'],
] as const)('shows %p as %s', (environment, expected) => {
  expect(shownState(environment)).toBe(expected);
});

describe('items of a list and of events', () => {
  const item = (id: string, version: number, more: Partial<EnvironmentItem> = {}) =>
    ({ id, version, health: 'healthy', builtAt: 0, ...more }) as EnvironmentItem;

  test('use the newer version', () => {
    const items = [item('a', 1), item('b', 5)];
    expect(mergeItem(items, item('a', 2)).map(({ version }) => version)).toEqual([2, 5]);
    expect(mergeItem(items, item('b', 4))).toBe(items);
    expect(mergeItem(items, item('c', 9))).toBe(items);
  });

  test('omit a deleted one', () => {
    const items = [item('a', 1)];
    expect([withoutItem(items, 'a'), withoutItem(items, 'b')]).toEqual([[], items]);
  });

  test('start with those that need attention', () => {
    const items = [item('a', 1), item('b', 1, { builtAt: 9 }), item('c', 1, { health: 'failed' })];
    expect(items.sort(byUrgency).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  });
});

test.each([
  ['failed', undefined, true],
  ['degraded', undefined, true],
  ['progressing', undefined, false],
  ['progressing', 'Queued', false],
  ['progressing', 'WaitingForApproval', true],
  ['healthy', undefined, false],
] as const)('%s with the reason %s needs attention: %p', (health, reason, expected) => {
  const problem = reason && { reason, message: '', since: 0 };
  expect(needsAttention({ health, ...(problem && { problem }) })).toBe(expected);
});

test('orders services after those that they depend on, also in a circle', () => {
  const services = [
    { name: 'web', dependsOn: ['api'] },
    { name: 'api', dependsOn: ['db', 'gone'] },
    { name: 'db' },
    { name: 'x', dependsOn: ['y'] },
    { name: 'y', dependsOn: ['x'] },
  ];
  expect(inDependencyOrder(services).map(({ name }) => name)).toEqual(['db', 'api', 'web', 'y', 'x']);
  expect(services.slice(0, 3).map(({ name }) => depthOf(services, name))).toEqual([2, 1, 0]);
  expect(depthOf(services, 'x')).toBeLessThan(4);
});

test('shows the cause before its consequences', () => {
  const condition = (type: string, status: string) => ({ type, status, reason: type, message: '', since: 0 });
  const stalled = condition('Stalled', 'True');
  expect(problemOf([condition('Available', 'False'), stalled])).toBe(stalled);
  expect(problemOf([condition('Available', 'True'), condition('Stalled', 'False')])).toBeUndefined();
});

describe('the timeline of a build', () => {
  const stages = [
    { name: 'build' as const, startedAt: 100, duration: 10 },
    { name: 'rollout' as const, startedAt: 110, duration: 30 },
  ];

  test('spans the finished build', () => {
    const segments = segmentsOf({ result: 'succeeded', startedAt: 100, duration: 40, stages }, 1000);
    expect(segments.map(({ start, width, isRunning }) => [start, width, isRunning])).toEqual([
      [0, 25, false],
      [25, 75, false],
    ]);
  });

  test('ends a running stage now', () => {
    const running = {
      result: 'running' as const,
      startedAt: 100,
      stages: [
        { name: 'build' as const, startedAt: 100, duration: 40 },
        { name: 'rollout' as const, startedAt: 140 },
      ],
    };
    expect(segmentsOf(running, 180).at(-1)).toEqual({
      ...{ name: 'rollout', start: 50, width: 50, seconds: 40, isRunning: true },
    });
  });

  test('shows nothing without stages', () => {
    expect(segmentsOf({ result: 'pending' }, 10)).toEqual([]);
  });
});

test('links the page of a commit only at the host', () => {
  expect(commitUrl({ type: 'groupedhost', url: 'https://gitlab.com/a/b.git' }, 'abc')).toBe(
    'https://gitlab.com/a/b/-/commit/abc',
  );
  expect(commitUrl({ type: 'ownerhost', url: 'javascript:alert(1)' }, 'abc')).toBeUndefined();
  expect(commitUrl({ type: 'generic', url: 'https://git.example/a.git' }, 'abc')).toBeUndefined();
});

test('turns filters of the address into the query of the list, and nothing else', () => {
  expect(listQuery({ text: 'a b', state: '', tab: 'x', health: 'failed' })).toBe('limit=50&text=a+b&health=failed');
});

test('decodes base64 of UTF-8', () => {
  expect(decodeText(encodeText('grün ✓ 🚀'))).toBe('grün ✓ 🚀');
});

test('returns the position of a line and column', () => {
  expect([offsetOf('ab\ncd', 2, 2), offsetOf('ab\ncd', 1, 99), offsetOf('ab', 9, 1)]).toEqual([4, 2, 2]);
});

test('keeps a line of values in its box, also if all are 0', () => {
  expect(sparklinePath([0, 5, 10], { width: 12, height: 12 })).toBe('M1 11L6 6L11 1');
  expect(sparklinePath([0, 0], { width: 12, height: 12 })).toBe('M1 11L11 11');
});

test.each([
  [0, '0 mCPU'],
  [0.0304, '30 mCPU'],
  [0.0996, '0.10 CPU'],
  [12.345, '12.35 CPU'],
])('%d cores are shown as %s', (cores, text) => {
  expect(cpuText(cores)).toBe(text);
});
