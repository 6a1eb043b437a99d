import { expect, test } from '@jest/globals';
import { continueTokenIn } from './continue-token.ts';

const token = 'eyJ2IjoibWV0YS5rOHMuaW8vdjEi_-';
const item = (annotations: object) => ({ metadata: { name: 'web', annotations }, spec: { note: 'x'.repeat(3000) } });
const custom = (items: object[], metadata: object) =>
  `${JSON.stringify({ apiVersion: 'coppice.dev/v1', items, kind: 'EnvironmentList', metadata })}\n`;
const builtIn = (items: object[], metadata: object) =>
  `${JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items })}\n`;

test.each([
  [custom([item({})], { continue: token, remainingItemCount: 5, resourceVersion: '77' })],
  [custom([item({})], { continue: token, resourceVersion: '77' })],
  [custom([], { continue: token, resourceVersion: '77' })],
  [builtIn([item({})], { resourceVersion: '77', continue: token, remainingItemCount: 5 })],
  [builtIn([item({})], { resourceVersion: '77', continue: token })],
])('finds the token of a page %#', (list) => {
  expect(continueTokenIn(list)).toBe(token);
});

const hostile = { continue: token, resourceVersion: '77' };
test.each([
  ['a last page', custom([item({})], { resourceVersion: '77' })],
  ['a last page of a built-in kind', builtIn([item({})], { resourceVersion: '77' })],
  ['an empty token', custom([], { continue: '', resourceVersion: '77' })],
  ['an annotation with the name', custom([item({ continue: token })], { resourceVersion: '77' })],
  ['an item with the form of the metadata', custom([{ metadata: hostile }], { resourceVersion: '77' })],
  ['an item with the form of the metadata, at the end', builtIn([{ metadata: hostile }], { resourceVersion: '77' })],
  ['a text with the form of the metadata', custom([item({ a: JSON.stringify(hostile) })], { resourceVersion: '77' })],
  ['no list', 'ok'],
])('finds none in %s', (_what, list) => {
  expect(continueTokenIn(list)).toBeUndefined();
});
