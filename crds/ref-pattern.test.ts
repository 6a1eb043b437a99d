import { describe, expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { RefPattern } from './ref-pattern.ts';

describe('a pattern', () => {
  test.each<[pattern: string, matching: string[], others: string[]]>([
    ['main', ['main'], ['mai', 'main2', 'a/main', 'Main', '']],
    ['release/*', ['release/1', 'release/', 'release/1.x'], ['release', 'release/1/a', 'a/release/1']],
    ['release/**', ['release/1', 'release/1/a/b', 'release/'], ['release', 'releases/1']],
    ['**/fix', ['a/fix', 'a/b/fix', '/fix'], ['fix', 'a/fix/b']],
    ['**', ['main', 'a/b', ''], []],
    ['*', ['main', ''], ['a/b']],
    ['v?.*', ['v1.0', 'vx.', 'v日.1'], ['v10.0', 'v/.0', 'v1']],
    ['?', ['a', '😀', '?'], ['', 'ab', '/']],
    ['*-old', ['a-old', '-old', '-old-old'], ['a/b-old', 'old', 'a-olds']],
    ['a***b', ['ab', 'a/x/b'], ['a', 'b']],
    ['größe/*✓', ['größe/✓', 'größe/a✓'], ['grosse/✓', 'größe/a/✓']],
    ['a.b+c(d)|$', ['a.b+c(d)|$'], ['axb+c(d)|$', 'a.bbc(d)|$']],
  ])('%s', (pattern, matching, others) => {
    const compiled = new RefPattern(pattern);
    expect(matching.filter((name) => !compiled.matches(name))).toEqual([]);
    expect(others.filter((name) => compiled.matches(name))).toEqual([]);
  });

  test('matches what a naive matcher does, also across words of 32 positions', () => {
    const text = (alphabet: string, maxLength: number) =>
      fc.array(fc.constantFrom(...Array.from(alphabet)), { maxLength }).map((parts) => parts.join(''));
    const filler = fc.constantFrom('', 'a'.repeat(29), 'ab/'.repeat(21));
    fc.assert(
      fc.property(filler, text('ab/*?', 8), text('ab/', 10), (start, pattern, name) => {
        for (const one of [name, start + name]) {
          const expected = naive(Array.from(start + pattern), Array.from(one));
          expect([one, new RefPattern(start + pattern).matches(one)]).toEqual([one, expected]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('costs little, however hostile: 200 asterisks against 100,000 names of 200 characters', () => {
    const compiled = new RefPattern('*a'.repeat(100));
    const names = Array.from({ length: 100_000 }, (_, index) => `${'a'.repeat(193)}${index}`.padEnd(200, 'b'));
    const start = process.cpuUsage();
    const matching = names.filter((name) => compiled.matches(name));
    const { user } = process.cpuUsage(start);
    expect(matching).toEqual([]);
    // A matcher that backtracks would not end; this one takes about half a second.
    expect(user / 1e6).toBeLessThan(10);
  });
});

/** Returns whether the pattern matches, by trying everything. */
function naive(pattern: readonly string[], name: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return name.length === 0;
  if (first === '*') {
    if (rest[0] === '*') {
      const beyond = rest[1] === '*' ? rest : rest.slice(1);
      return [...name, ''].some((_, at) => naive(beyond, name.slice(at)));
    }
    const until = name.indexOf('/') === -1 ? name.length : name.indexOf('/');
    return Array.from({ length: until + 1 }).some((_, at) => naive(rest, name.slice(at)));
  }
  const [character] = name;
  if (character === undefined) return false;
  return (first === '?' ? character !== '/' : first === character) && naive(rest, name.slice(1));
}
