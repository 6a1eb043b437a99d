import { expect, test } from '@jest/globals';
import type { EnvironmentItem } from '../api/items.ts';
import { bareName, refsOf, typeOfName } from './ref-choice.ts';

function item(id: string, name: string, type: EnvironmentItem['gitRef']['type'], status: EnvironmentItem['status']) {
  return { id, gitRef: { name, type }, status } as EnvironmentItem;
}

const items = [
  item('a', 'main', 'branch', 'empty'),
  item('b', 'main', 'branch', 'built'),
  item('c', '12', 'pull request', 'built'),
  item('d', 'v1', 'tag', 'empty'),
  item('e', 'v1', 'branch', 'empty'),
];

test('each ref is offered once, with its environment that has contents', () => {
  expect(refsOf(items).map(({ id }) => id)).toEqual(['b', 'c', 'd', 'e']);
});

test('a name that one known ref has determines the type', () => {
  expect(['main', '#12', 'refs/heads/main', 'v1', 'other'].map((name) => typeOfName(items, name))).toEqual([
    ...['branch', 'pull request', 'branch', undefined, undefined],
  ]);
});

test('shortens the typed name of a ref', () => {
  expect(['#12', '#a', ' refs/tags/v1 ', 'feature/#1'].map(bareName)).toEqual(['12', '#a', 'v1', 'feature/#1']);
});
