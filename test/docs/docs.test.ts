import { describe, expect, test } from '@jest/globals';
import { codeBlocks } from './code-blocks.ts';
import { anchorsOf, linksOf } from './links.ts';
import { missingMessages } from './messages.ts';

const fence = '```';

test('code blocks have a language and a name', () => {
  const page = `Text\n${fence}sh backup\none\ntwo\n${fence}\n${fence}yaml\na: 1\n${fence}\n`;
  expect(codeBlocks(page)).toEqual([
    { language: 'sh', name: 'backup', code: 'one\ntwo\n' },
    { language: 'yaml', name: '', code: 'a: 1\n' },
  ]);
});

test('links to files and headings, not those in code, nor to other hosts', () => {
  const page = `[a](b.md#c) [x](https://example.com) \`[n](o)\`\n${fence}\n[in](code)\n${fence}\n[here](#there)`;
  expect(linksOf(page)).toEqual([
    { path: 'b.md', anchor: 'c', line: 1 },
    { path: '', anchor: 'there', line: 5 },
  ]);
});

test('headings are linked as GitHub does', () => {
  const page = `# State × trigger\n## \`x-coppice.tests[]\`\n## [Tests](t.md), and more\n## Again\n## Again\n${fence}\n# no\n${fence}\n`;
  expect([...anchorsOf(page)]).toEqual(['state--trigger', 'x-coppicetests', 'tests-and-more', 'again', 'again-1']);
});

describe('messages that nobody says', () => {
  const source = "new Stalled('X', `the Secret ${name} is gone: ` + 'make it anew')";
  test.each([
    ['the Secret … is gone: make it anew', []],
    ['the Secret … is lost for good', ['the Secret … is lost for good']],
    ['… is gone: make it again', ['… is gone: make it again']],
  ])('%s', (message, expected) => expect(missingMessages(`| «${message}» |`, source)).toEqual(expected));
});
