import { expect, test } from '@jest/globals';
import { fullRefName, isRefName, gitRefSchema } from './git-ref.ts';

test.each([
  ['main', true],
  ['feature/login', true],
  ['v1.2.3', true],
  ['日本', true],
  ['--upload-pack=touch x', false],
  ['-x', false],
  ['a..b', false],
  ['a b', false],
  ['/a', false],
  ['a/', false],
  ['a//b', false],
  ['.a', false],
  ['a/.b', false],
  ['a.lock', false],
  ['a.lock/b', false],
  ['a~1', false],
  ['a^', false],
  ['a:b', false],
  ['a\\b', false],
  ['a@{1}', false],
  ['@', false],
  ['a\nb', false],
  ['a\ud800b', false],
  ['', false],
])('returns whether %j is a ref name: %s', (name, expected) => {
  expect(isRefName(name)).toBe(expected);
});

test('returns the full name of a ref', () => {
  expect(fullRefName({ name: 'main', type: 'branch' })).toBe('refs/heads/main');
  expect(fullRefName({ name: 'v1', type: 'tag' })).toBe('refs/tags/v1');
});

test.each([
  ['7', true],
  ['0', false],
  ['07', false],
  ['main', false],
])('returns whether the pull request %s is valid: %s', (name, expected) => {
  expect(gitRefSchema.safeParse({ name, type: 'pull request' }).success).toBe(expected);
});
