import { describe, expect, test } from '@jest/globals';
import { InformerCache } from './informer-cache.ts';
import type { KubernetesObject } from './resource-type.ts';
import type { WatchEvent } from './client-options.ts';

const object = (name: string, version: number): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, resourceVersion: String(version) },
});

type Step =
  | { list: [string, number][]; at: number }
  | { event: WatchEvent<KubernetesObject>['type']; of: [string, number] }
  | { observe: [string, number] };

/** @returns what the cache reported, and its final contents. */
function play(steps: Step[]) {
  const reported: string[] = [];
  const cache = new InformerCache<KubernetesObject>({}, (type, { metadata }) => {
    reported.push(`${type} ${metadata.name}@${metadata.resourceVersion}`);
  });
  for (const step of steps) {
    if ('list' in step) {
      cache.replace({ items: step.list.map((of) => object(...of)), resourceVersion: String(step.at) });
    } else if ('event' in step) {
      cache.take({ type: step.event, object: object(...step.of) });
    } else {
      cache.observe(object(...step.observe));
    }
  }
  const held = cache.store.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  return { reported, held, at: cache.resourceVersion };
}

describe('lists and events', () => {
  test.each<[string, Step[], string[], string[], string]>([
    [
      'a first list',
      [
        {
          list: [
            ['a', 3],
            ['b', 5],
          ],
          at: 7,
        },
      ],
      ['added a@3', 'added b@5'],
      ['a@3', 'b@5'],
      '7',
    ],
    [
      'events',
      [
        { list: [['a', 3]], at: 7 },
        { event: 'ADDED', of: ['b', 8] },
        { event: 'MODIFIED', of: ['a', 9] },
        { event: 'DELETED', of: ['b', 10] },
      ],
      ['added a@3', 'added b@8', 'updated a@9', 'deleted b@10'],
      ['a@9'],
      '10',
    ],
    [
      'a bookmark moves on and reports nothing',
      [
        { list: [], at: 7 },
        { event: 'BOOKMARK', of: ['', 20] },
      ],
      [],
      [],
      '20',
    ],
    [
      'a new list reports only the missed changes, including deletions',
      [
        {
          list: [
            ['a', 3],
            ['b', 4],
            ['c', 5],
          ],
          at: 7,
        },
        {
          list: [
            ['a', 3],
            ['c', 8],
            ['d', 9],
          ],
          at: 10,
        },
      ],
      ['added a@3', 'added b@4', 'added c@5', 'deleted b@4', 'updated c@8', 'added d@9'],
      ['a@3', 'c@8', 'd@9'],
      '10',
    ],
    [
      'after a restore of etcd, listed objects count although they are older',
      [
        {
          list: [
            ['a', 90],
            ['b', 50],
          ],
          at: 100,
        },
        {
          list: [
            ['a', 40],
            ['b', 50],
          ],
          at: 60,
        },
        { event: 'MODIFIED', of: ['a', 61] },
      ],
      ['added a@90', 'added b@50', 'updated a@40', 'updated b@50', 'updated a@61'],
      ['a@61', 'b@50'],
      '61',
    ],
  ])('%s', (_name, steps, reported, held, at) => {
    const result = play(steps);
    expect(result.reported).toEqual(reported);
    expect(result.held.sort()).toEqual(held);
    expect(result.at).toBe(at);
  });
});

describe('observe', () => {
  test.each<[string, Step[], string[], string[]]>([
    [
      'shows the write at once, and its event later reports nothing more',
      [{ list: [['a', 3]], at: 7 }, { observe: ['a', 9] }, { event: 'MODIFIED', of: ['a', 9] }],
      ['added a@3', 'updated a@9'],
      ['a@9'],
    ],
    [
      'is not undone by an older event that was under way',
      [{ list: [['a', 3]], at: 7 }, { observe: ['a', 9] }, { event: 'MODIFIED', of: ['a', 8] }],
      ['added a@3', 'updated a@9'],
      ['a@9'],
    ],
    [
      'nor by the deletion of a former object of that name',
      [{ list: [['a', 3]], at: 7 }, { observe: ['a', 9] }, { event: 'DELETED', of: ['a', 8] }],
      ['added a@3', 'updated a@9'],
      ['a@9'],
    ],
    [
      'nor by a list from before',
      [{ list: [], at: 7 }, { observe: ['a', 9] }, { list: [], at: 8 }],
      ['added a@9'],
      ['a@9'],
    ],
    [
      'but by a list from after',
      [{ list: [], at: 7 }, { observe: ['a', 9] }, { list: [], at: 12 }],
      ['added a@9', 'deleted a@9'],
      [],
    ],
    [
      'does not bring back an object that was deleted after the write',
      [{ list: [['a', 3]], at: 7 }, { event: 'DELETED', of: ['a', 10] }, { observe: ['a', 9] }],
      ['added a@3', 'deleted a@10'],
      [],
    ],
    [
      'does not go back behind a newer event',
      [{ list: [['a', 3]], at: 7 }, { event: 'MODIFIED', of: ['a', 10] }, { observe: ['a', 9] }],
      ['added a@3', 'updated a@10'],
      ['a@10'],
    ],
    ['before the first list', [{ observe: ['a', 9] }, { list: [['a', 5]], at: 8 }], ['added a@9'], ['a@9']],
    [
      'removes a written object when the watch reports its deletion',
      [{ list: [], at: 7 }, { observe: ['a', 9] }, { event: 'DELETED', of: ['a', 10] }],
      ['added a@9', 'deleted a@10'],
      [],
    ],
  ])('%s', (_name, steps, reported, held) => {
    const result = play(steps);
    expect(result.reported).toEqual(reported);
    expect(result.held).toEqual(held);
  });
});

test.each<[string, unknown]>([
  ['no object', { type: 'ADDED' }],
  ['no metadata', { type: 'ADDED', object: {} }],
  ['no resource version', { type: 'MODIFIED', object: { metadata: { name: 'a' } } }],
  ['no name', { type: 'ADDED', object: { metadata: { resourceVersion: '8' } } }],
])('throws for an event with %s, and changes nothing', (_name, event) => {
  const reported: string[] = [];
  const cache = new InformerCache<KubernetesObject>({}, (type) => reported.push(type));
  cache.replace({ items: [], resourceVersion: '7' });
  expect(() => cache.take(event as WatchEvent<KubernetesObject>)).toThrow(TypeError);
  expect([reported, cache.resourceVersion]).toEqual([[], '7']);
});
