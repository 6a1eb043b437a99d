import { expect, test } from '@jest/globals';
import { hasEnded, MAX_ENDED_LINKS, madeAtOf, withEnded, type EndedLinks } from './ended-links.ts';

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const id = 'a'.repeat(16);
const other = 'b'.repeat(16);

test.each<[what: string, link: { id?: string; madeAt?: number }, state: EndedLinks | undefined, hasEnded: boolean]>([
  ['without a state', { id, madeAt: 10 }, undefined, false],
  ['by its ID', { id, madeAt: 10 }, { links: [{ id, until: at(99) }] }, true],
  ['not by the ID of another', { id, madeAt: 10 }, { links: [{ id: other, until: at(99) }] }, false],
  ['if it was made earlier', { id, madeAt: 9 }, { before: at(10) }, true],
  ['if it was made in the same second', { id, madeAt: 10 }, { before: at(10.5) }, true],
  ['not if it was made later', { id, madeAt: 11 }, { before: at(10) }, false],
  ['if it does not say when it was made', {}, { before: at(10) }, true],
  ['not by the ID of another if it has none', {}, { links: [{ id, until: at(99) }] }, false],
])('a link has ended %s', (_what, link, state, expected) => {
  expect(hasEnded(link, state)).toBe(expected);
});

test('an ended link replaces those that have ended by themselves', () => {
  const state = { before: at(1), links: [{ id, until: at(50) }] };
  const ended = withEnded(state, { id: other, until: new Date(99_000) }, new Date(50_000));
  expect(ended).toEqual({ before: at(1), links: [{ id: other, until: at(99) }] });
  expect(withEnded(ended ?? {}, { id: other, until: new Date(99_000) }, new Date(51_000))).toEqual(ended);
});

test('only so many links are ended one by one', () => {
  const links = Array.from({ length: MAX_ENDED_LINKS }, (_, index) => ({
    id: `link-${index}`.padEnd(16, '-'),
    until: at(99),
  }));
  expect(withEnded({ links }, { id, until: new Date(99_000) }, new Date(50_000))).toBeUndefined();
  expect(withEnded({ links }, { id, until: new Date(199_000) }, new Date(99_000))?.links).toHaveLength(1);
});

test.each([
  [undefined, 100],
  [at(50), 100],
  [at(100), 101],
  [at(102), 103],
  [at(100_000), 105],
])('a link that is made after all were ended at %s is valid', (before, expected) => {
  expect(madeAtOf(100, before === undefined ? undefined : { before })).toBe(expected);
});
