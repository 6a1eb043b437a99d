import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import type { Repository } from '../../crds/repository.ts';
import type { OperatorCaches } from './caches.ts';
import { watchForFeedback } from './feedback.ts';

const environment = {
  metadata: { name: 'shop-main', namespace: 'group-acme' },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' } },
  status: {
    state: 'building',
    build: { number: 1, result: 'running', commit: 'c1', startedAt: '2026-01-01T00:00:00Z' },
  },
} as Environment;

const repository = (metadata: object): Repository => ({
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Repository',
  metadata: { name: 'shop', namespace: 'group-acme', uid: 'u', generation: 1, ...metadata },
  spec: { type: 'ownerhost', ownerhost: { owner: 'acme', repo: 'shop' } },
});

test.each([
  ['a change of its spec', repository({ generation: 2 }), ['group-acme/shop-main']],
  ['another one of the name', repository({ uid: 'v' }), ['group-acme/shop-main']],
  ['not a push, which asks for a sync', repository({ annotations: { 'coppice.dev/request-sync': 'x' } }), []],
  ['not its status', repository({ resourceVersion: '2' }), []],
])('reports again what is due of a Repository after: %s', (_what, changed, expected) => {
  const keys: string[] = [];
  let handle: ((type: string, object: Repository, old?: Repository) => void) | undefined;
  const caches = {
    environments: {
      addHandler: () => undefined,
      byIndex: (index: string, value: string) =>
        index === 'repository' && value === 'group-acme/shop' ? [environment] : [],
    },
    repositories: { addHandler: (handler: typeof handle) => (handle = handler) },
  } as unknown as Pick<OperatorCaches, 'environments' | 'repositories'>;
  watchForFeedback(caches, new URL('https://coppice.example.org'), { enqueue: (key) => keys.push(key) });
  handle?.('updated', changed, repository({}));
  expect(keys).toEqual(expected);
});

test.each([
  ['deleted', ['group-acme/shop-7']],
  ['updated', ['group-acme/shop-7-clone', 'group-acme/shop-7']],
] as const)(
  'requeues the writer of the comment for another environment of the pull request: %s',
  async (type, expected) => {
    const keys: string[] = [];
    const spec = { repository: 'shop', gitRef: { name: '7', type: 'pull request' } };
    const writer = { ...environment, metadata: { ...environment.metadata, name: 'shop-7' }, spec } as Environment;
    const clone = { ...writer, metadata: { ...writer.metadata, name: 'shop-7-clone' } } as Environment;
    let handle: ((type: string, object: Environment, old?: Environment) => void) | undefined;
    const caches = {
      environments: {
        addHandler: (handler: typeof handle) => (handle = handler),
        byIndex: () => [writer, ...(type === 'deleted' ? [] : [clone])],
      },
      repositories: { addHandler: () => undefined, get: () => repository({}) },
    } as unknown as Pick<OperatorCaches, 'environments' | 'repositories'>;
    watchForFeedback(caches, new URL('https://coppice.example.org'), { enqueue: (key) => keys.push(key) });
    handle?.(type, clone, type === 'updated' ? { ...clone, status: { state: 'created' } } : undefined);
    await setImmediate();
    expect(keys).toEqual(expected);
    handle?.('updated', clone, clone);
    await setImmediate();
    expect(keys).toEqual(expected);
  },
);

test('checks the comment of a pull request once for the events of all its environments', async () => {
  const spec = { repository: 'shop', gitRef: { name: '7', type: 'pull request' } };
  const all = Array.from({ length: 1000 }, (_, index) => {
    const metadata = { ...environment.metadata, name: `shop-7-${index}`, uid: `u${index}` };
    return { ...environment, metadata, spec } as Environment;
  });
  const keys: string[] = [];
  let reads = 0;
  let handle: ((type: string, object: Environment, old?: Environment) => void) | undefined;
  const caches = {
    environments: {
      addHandler: (handler: typeof handle) => (handle = handler),
      byIndex: () => {
        reads++;
        return all;
      },
    },
    repositories: { addHandler: () => undefined, get: () => repository({}) },
  } as unknown as Pick<OperatorCaches, 'environments' | 'repositories'>;
  watchForFeedback(caches, new URL('https://coppice.example.org'), { enqueue: (key) => keys.push(key) });
  for (const one of all) handle?.('added', one);
  await setImmediate();
  expect([reads, keys.length]).toEqual([1, 1001]);
});
