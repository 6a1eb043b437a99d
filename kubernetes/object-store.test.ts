import { expect, test } from '@jest/globals';
import { ObjectStore } from './object-store.ts';
import type { KubernetesObject } from './resource-type.ts';

const object = (name: string, app?: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(app && { labels: { app } }) },
});

/** The index does not contain objects without the label. */
const byApp = ({ metadata: { labels } }: KubernetesObject) => Object.values(labels ?? {});

test('updates indexes with every change', () => {
  const store = new ObjectStore<KubernetesObject>({ app: byApp });
  const names = (value: string) => store.byIndex('app', value).map(({ metadata }) => metadata.name);
  store.set('a', object('a', 'shop'));
  store.set('b', object('b', 'shop'));
  store.set('c', object('c'));
  expect(names('shop')).toEqual(['a', 'b']);
  store.set('a', object('a', 'blog'));
  expect([names('shop'), names('blog')]).toEqual([['b'], ['a']]);
  store.delete('b');
  store.delete('never there');
  expect(names('shop')).toEqual([]);
  expect(store.size).toBe(2);
});

test('indexes an object under several values', () => {
  const store = new ObjectStore<KubernetesObject>({ letter: ({ metadata }) => metadata.name.split('-') });
  store.set('a-b', object('a-b'));
  expect([store.byIndex('letter', 'a'), store.byIndex('letter', 'b')]).toEqual([[object('a-b')], [object('a-b')]]);
});

test('throws for an index that does not exist', () => {
  expect(() => new ObjectStore().byIndex('app', 'x')).toThrow(TypeError);
});
