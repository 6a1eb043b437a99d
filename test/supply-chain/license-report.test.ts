import { describe, expect, test } from '@jest/globals';
import { isAllowed } from './license-expression.ts';
import { licenseProblems, licensesPage, packagesOf } from './license-report.ts';

describe('a license expression', () => {
  const allowed = new Set(['MIT', 'ISC']);
  test.each([
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['', false],
    ['(MIT OR GPL-3.0-only)', true],
    ['GPL-3.0-only OR MIT', true],
    ['MIT AND GPL-3.0-only', false],
    ['MIT AND (GPL-3.0-only OR ISC)', true],
    ['GPL-3.0-only OR MIT AND ISC', true],
    ['(GPL-3.0-only OR MIT) AND AGPL-3.0-only', false],
    ['MIT WITH some-exception', false],
    ['(MIT', false],
    ['MIT ISC', false],
    ['SEE LICENSE IN LICENSE.md', false],
  ])('%s: %s', (expression, expected) => expect(isAllowed(expression, allowed)).toBe(expected));
});

const lock = {
  packages: {
    '': {},
    'node_modules/runs': { version: '1.0.0', license: 'MIT' },
    'node_modules/a/node_modules/runs': { version: '1.0.0', license: 'MIT', dev: true },
    'node_modules/browser': { version: '2.0.0', license: 'Apache-2.0', optional: true },
    'node_modules/@scope/view': { version: '3.0.0', license: 'MIT', dev: true },
    'node_modules/tests': { version: '4.0.0', license: 'MPL-2.0', dev: true },
    'node_modules/old': { version: '5.0.0', license: 'BSD', dev: true },
  },
};
const packages = packagesOf(lock, new Set(['node_modules/@scope/view', 'node_modules/runs']));
const exception = { package: 'old@5.0.0', license: 'BSD-3-Clause', reason: 'its text is the one with three clauses' };

test('lists each package once, with its first use', () => {
  expect(packages.map(({ name, use }) => [name, use])).toEqual([
    ['@scope/view', 'bundle'],
    ['browser', 'tester'],
    ['old', 'development'],
    ['runs', 'image'],
    ['tests', 'development'],
  ]);
});

test.each([
  ['allows what the list has for the use', ['MIT', 'Apache-2.0', 'BSD-3-Clause'], ['MPL-2.0', 'BSD'], [exception], []],
  [
    'refuses a license of development in what is distributed',
    ['MIT', 'BSD-3-Clause', 'BSD'],
    ['MPL-2.0', 'Apache-2.0'],
    [exception],
    ['browser@2.0.0 (tester) has the license "Apache-2.0", which is not on the list for its use'],
  ],
  [
    'refuses what no SPDX identifier names',
    ['MIT', 'Apache-2.0'],
    ['MPL-2.0'],
    [],
    ['old@5.0.0 (development) has the license "BSD", which is not on the list for its use'],
  ],
  [
    'refuses entries that nothing needs',
    ['MIT', 'Apache-2.0', 'ISC', 'BSD'],
    ['MPL-2.0'],
    [{ ...exception, package: 'gone@1.0.0' }],
    [
      'no package has the allowed license ISC. Remove it from the list',
      'no package needs the exception gone@1.0.0. Remove it',
    ],
  ],
])('%s', (_what, distributed, development, exceptions, expected) => {
  const problems = licenseProblems(packages, { distributed, development, exceptions });
  expect(problems.filter((problem) => !problem.includes('BSD-3-Clause'))).toEqual(expected);
});

test('shows what is distributed apart from what is not', () => {
  const [image, ...others] = licensesPage(packages).split('\n## ').slice(1);
  expect(image).toContain('| runs | 1.0.0 | MIT |');
  expect(others.at(-1)).toMatch(/not distributed[^]*\| old \| 5\.0\.0 \| BSD \|\n\| tests \| 4\.0\.0 \| MPL-2\.0 \|/);
});
