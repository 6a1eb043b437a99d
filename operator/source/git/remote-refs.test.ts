import { describe, expect, test } from '@jest/globals';
import { SourceRefusedError } from '../errors.ts';
import { parseRefs, parseRemoteRefs } from './remote-refs.ts';

const commit = (digit: string) => digit.repeat(40);
const listed = (...lines: [string, string][]) => lines.map(([id, name]) => `${id}\t${name}\n`).join('');

describe('the output of git ls-remote', () => {
  test('is read as branches and tags by their short names', () => {
    const output = listed(
      [commit('1'), 'refs/heads/main'],
      [commit('2'), 'refs/heads/feature/cart/üñï-✓'],
      [commit('3'), 'refs/tags/v1.0'],
      [commit('a'), 'refs/tags/v2.0'],
      [commit('4'), 'refs/tags/v2.0^{}'],
      [commit('5'), 'refs/pull/1/head'],
    );
    expect(parseRemoteRefs(output)).toEqual({
      branches: new Map([
        ['main', commit('1')],
        ['feature/cart/üñï-✓', commit('2')],
      ]),
      tags: new Map([
        ['v1.0', commit('3')],
        ['v2.0', commit('4')],
      ]),
    });
  });

  test('is empty for an empty repository', () => {
    expect(parseRemoteRefs('')).toEqual({ branches: new Map(), tags: new Map() });
  });

  test('can have IDs of 64 digits, of a SHA-256 repository', () => {
    expect(parseRefs(listed(['f'.repeat(64), 'refs/heads/main']))).toEqual(
      new Map([['refs/heads/main', 'f'.repeat(64)]]),
    );
  });

  test('can list a peeled tag in any order', () => {
    expect(parseRefs(listed([commit('4'), 'refs/tags/v^{}'], [commit('a'), 'refs/tags/v']))).toEqual(
      new Map([['refs/tags/v', commit('4')]]),
    );
  });

  test.each(['', '^{}'])('is read up to 100,000 refs, and refused beyond, whatever their names: v0%s', (end) => {
    const of = (count: number) =>
      Array.from({ length: count }, (_, i) => `${commit('1')}\trefs/tags/v${i}${end}`).join('\n');
    expect(parseRemoteRefs(of(100_000)).tags.size).toBe(100_000);
    expect(() => parseRemoteRefs(of(100_001))).toThrow(SourceRefusedError);
  });

  test.each([
    'warning: something\trefs/heads/main\n',
    `${commit('1')} refs/heads/main\n`,
    `${commit('1')}\tHEAD\n`,
    `${commit('1')}\trefs/heads/\n`,
    `ref: refs/heads/main\tHEAD\n`,
  ])('contains no branch %j', (output) => {
    expect(parseRemoteRefs(output)).toEqual({ branches: new Map(), tags: new Map() });
  });
});
