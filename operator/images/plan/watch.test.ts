import { describe, expect, test } from '@jest/globals';
import { WatchBudget, WatchTooLargeError, watchedFiles } from './watch.ts';

test.each<[string, string[], boolean]>([
  ['web/src/a.ts', ['web/**'], true],
  ['web/src/a.ts', ['web'], true],
  ['web/src/a.ts', ['./web/'], true],
  ['website/a.ts', ['web'], false],
  ['web/a.ts', ['web/*.ts'], true],
  ['web/src/a.ts', ['web/*.ts'], false],
  ['web/src/a.ts', ['**/*.ts'], true],
  ['a.ts', ['**/*.ts'], true],
  ['.env', ['*'], true],
  ['a.tsx', ['*.ts?'], true],
  ['a.ts', ['*.ts?'], false],
  ['web/README.md', ['web', '!**/*.md'], false],
  ['web/README.md', ['!**/*.md', 'web'], true],
  ['web/keep.md', ['web', '!**/*.md', 'web/keep.md'], true],
  ['a/b/c/d', ['a/**/d'], true],
  ['a/d', ['a/**/d'], true],
  ['a/b', [], false],
  ['anything/at/all', ['.'], true],
  ['a[b]', ['a[b]'], true],
  ['ärger.ts', ['?rger.ts'], true],
  ['\u{1f333}.ts', ['?.ts'], true],
])('selects %s by %j: %s', async (path, globs, expected) => {
  const files = [{ path }];
  expect(await watchedFiles(files, globs, new WatchBudget())).toEqual(expected ? files : []);
});

describe('limits slow patterns', () => {
  const longNames = Array.from({ length: 1000 }, (_, index) => ({ path: `${'a'.repeat(245)}${index}` }));
  const globs = Array.from({ length: 40 }, (_, index) => `*${'a'.repeat(120)}b${index}`);

  test('with a refusal', async () => {
    await expect(watchedFiles(longNames, globs, new WatchBudget())).rejects.toThrow(WatchTooLargeError);
  });

  test('while other work continues', async () => {
    let ordered = 0;
    const budget = new WatchBudget(undefined, () => Promise.resolve(ordered++));
    await watchedFiles(longNames.slice(0, 50), globs, budget);
    expect(ordered).toBeGreaterThan(10);
  });
});

test('accepts a large repository with ordinary globs', async () => {
  const files = Array.from({ length: 10_000 }, (_, index) => ({
    path: `packages/p${index % 50}/src/${index}/index.ts`,
  }));
  const budget = new WatchBudget();
  for (let service = 0; service < 5; service++) {
    const globs = [`packages/p${service}/**`, '**/*.json', 'libs/**', 'package.json', 'tsconfig*.json'];
    expect(await watchedFiles(files, globs, budget)).toHaveLength(200);
  }
});
