import { describe, expect, test } from '@jest/globals';
import { compareVersions, readChangelog, withRelease } from './changelog.ts';

const page = (...sections: string[]) => `# Changelog\n\nWords.\n\n${sections.join('\n\n')}\n`;
const unreleased = '## [Unreleased]';
const first = '## [0.1.0] - 2026-01-02\n\n### Added\n\n- A thing,\n  on two lines.';

test('reads releases, newest first', () => {
  const second = '## [0.2.0] - 2026-02-03\n\n### Fixed\n\n- It.';
  expect(readChangelog(page(`${unreleased}\n\n### Added\n\n- More.`, second, first))).toEqual({
    unreleased: '### Added\n\n- More.',
    releases: [
      { version: '0.2.0', date: '2026-02-03', notes: '### Fixed\n\n- It.' },
      { version: '0.1.0', date: '2026-01-02', notes: '### Added\n\n- A thing,\n  on two lines.' },
    ],
    problems: [],
  });
});

describe('reports', () => {
  test.each([
    ['a missing section of unreleased changes', page(first), /must be "## \[Unreleased\]"/],
    ['a heading of another form', page(unreleased, '## 0.1.0\n\n### Added\n\n- A.'), /"0\.1\.0" must be/],
    ['another kind of change', page(`${unreleased}\n\n### News\n\n- A.`, first), /"News" is not one of/],
    ['another order', page(`${unreleased}\n\n### Fixed\n\n- A.\n\n### Added\n\n- B.`, first), /not in the order/],
    ['a repeated kind', page(`${unreleased}\n\n### Added\n\n- A.\n\n### Added\n\n- B.`, first), /repeated/],
    ['an empty kind', page(`${unreleased}\n\n### Added`, first), /at least one item/],
    ['text instead of a list', page(`${unreleased}\n\n### Added\n\nA.`, first), /must be a list/],
    ['text outside of a kind', page(`${unreleased}\n\nA.`, first), /text before/],
    ['a table in a change', page(`${unreleased}\n\n### Added\n\n- A.\n  | name | digest |`, first), /a table/],
    ['a heading in a change', page(`${unreleased}\n\n### Added\n\n- A.\n  ## Images`, first), /a heading/],
    ['HTML in a change', page(`${unreleased}\n\n### Added\n\n- A <img src=x>.`, first), /HTML/],
    ['an invisible character', page(`${unreleased}\n\n### Added\n\n- A\u202eB.`, first), /invisible/],
    ['an empty release', page(unreleased, '## [0.1.0] - 2026-01-02'), /must list its changes/],
    ['releases in another order', page(unreleased, first, first.replace('0.1.0', '0.10.0')), /must be above/],
    [
      'dates in another order',
      page(unreleased, first.replace('0.1.0', '0.2.0').replace('-01-', '-00-'), first),
      /older/,
    ],
  ])('%s', (_what, text, problem) => expect(readChangelog(text).problems).toEqual([expect.stringMatching(problem)]));
});

test('compares versions by their numbers', () => {
  expect(['0.10.0', '1.0.0', '0.9.9', '0.9.10'].sort(compareVersions)).toEqual(['0.9.9', '0.9.10', '0.10.0', '1.0.0']);
  expect(() => compareVersions('1.0', '1.0.0')).toThrow('not a version');
});

test('makes a release of what is unreleased', () => {
  const text = withRelease(page(`${unreleased}\n\n### Added\n\n- More.`, first), '0.2.0', '2026-02-03');
  expect(readChangelog(text)).toMatchObject({
    unreleased: '',
    releases: [{ version: '0.2.0', date: '2026-02-03', notes: '### Added\n\n- More.' }, { version: '0.1.0' }],
    problems: [],
  });
});
