import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { scriptOf, unrunBlocks } from './guides.ts';

const fence = '```';
const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');

describe('shell blocks that no test runs', () => {
  const page = 'docs/how-to/some.md';
  const source = `new Reader('${page}'); reader.paste('backup');`;
  test.each([
    ['a block without a name', `${fence}sh\nls\n${fence}\n`, ['ls']],
    ['a block in a list', `1. Do\n\n   ${fence}sh\n   ls\n   ${fence}\n`, ['   ls']],
    ['a block with a reason', `<!-- not run: it needs a mail server -->\n\n${fence}sh\nls\n${fence}\n`, []],
    ['a block that a test names', `${fence}sh backup\nls\n${fence}\n`, []],
    ['a block that no test names', `${fence}sh restore\nls\n${fence}\n`, ['ls']],
    ['a block to paste on a page that is not run', `${fence}sh paste\nls\n${fence}\n`, ['ls']],
    ['another language', `${fence}yaml\na: 1\n${fence}\n`, []],
  ])('%s', (_what, markdown, found) => expect(unrunBlocks(page, markdown, [source])).toEqual(found));
});

test('joins blocks to paste to one script', () => {
  expect(
    scriptOf(`${fence}sh paste\na=1\n${fence}\n\n${fence}sh\nno\n${fence}\n\n${fence}sh paste\necho $a\n${fence}\n`),
  ).toBe('a=1\n\necho $a\n');
});

const pages = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: REPOSITORY_ROOT });
const tests = globSync('test/**/*.ts', { cwd: REPOSITORY_ROOT }).map(read);

test.each(pages)('%s: runs each shell block in a test, or says why not: <!-- not run: REASON -->', (page) => {
  expect(unrunBlocks(page, read(page), tests)).toEqual([]);
});

/** Words for parts of the product that are newer than the limit: guides, decision records, lines on other pages. */
const partWords = {
  panel: 833,
  'clusters of several kinds': 1000,
  'command line': 1220,
  'own variables': 600,
  'history of tests': 125,
  'rules for environments': 790,
  'authors in rules': 302,
  release: 1110,
  'images from CI': 680,
  'approval of forks': 990,
  'features by caller': 350,
  'access to environments': 1241,
  'access with nginx and Gateways': 787,
  'ending links': 170,
  'shells and forwarded ports': 1250,
  'several repositories': 951,
  'overrides of environments': 900,
  sleep: 2030,
  housekeeping: 850,
  'first questions of a newcomer': 350,
  'panel for newcomers': 60,
  'what links of invitations show': 70,
  'next version of resources': 420,
  'what was tried of arm64 and Skaffold': 45,
  'benchmarks of applications and groups': 400,
  'Valkey as the default': 286,
  'deliveries, start, deletion and CPU requests': 350,
  'usage of groups': 80,
  'requests of a creation': 240,
  'start of API replicas': 310,
  'targets of applications, groups and deletion': 70,
  'updates of dependencies, rollbacks to 0.1.0, what was not tried': 720,
  'busy nodes': 100,
  'growth over a year, targets with their figures': 440,
};
/** Generated measurements do not count. The bars of tables do, as in `wc -w`. */
const MAX_WORDS = Object.values(partWords).reduce((sum, words) => sum + words, 45_000);

test(`all pages together have at most ${MAX_WORDS} words`, () => {
  const counted = pages.filter((page) => !page.startsWith('docs/measurements/'));
  const words = counted.map(
    (page) =>
      read(page)
        .split(/\s+/)
        .filter((word) => word !== '').length,
  );
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_WORDS);
});
