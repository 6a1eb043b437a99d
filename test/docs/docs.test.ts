import { describe, expect, test } from '@jest/globals';
import { codeBlocks } from './code-blocks.ts';
import { anchorsOf, linksOf } from './links.ts';
import { missingMessages } from './messages.ts';
import { unportableCommands } from './portability.ts';

const fence = '```';

test('finds code blocks with their language and name', () => {
  const page = `Text\n${fence}sh backup\none\ntwo\n${fence}\n${fence}yaml\na: 1\n${fence}\n`;
  expect(codeBlocks(page)).toEqual([
    { language: 'sh', name: 'backup', code: 'one\ntwo\n', notRun: '' },
    { language: 'yaml', name: '', code: 'a: 1\n', notRun: '' },
  ]);
});

test('finds links to files and headings, except those in code and to other hosts', () => {
  const page = `[a](b.md#c) [x](https://example.com) \`[n](o)\`\n${fence}\n[in](code)\n${fence}\n[here](#there)`;
  expect(linksOf(page)).toEqual([
    { path: 'b.md', anchor: 'c', line: 1 },
    { path: '', anchor: 'there', line: 5 },
  ]);
});

test('resolves headings as GitHub does', () => {
  const page = `# State × trigger\n## \`x-coppice.tests[]\`\n## [Tests](t.md), and more\n## Again\n## Again\n${fence}\n# no\n${fence}\n`;
  expect([...anchorsOf(page)]).toEqual(['state--trigger', 'x-coppicetests', 'tests-and-more', 'again', 'again-1']);
});

describe('messages that no source file has', () => {
  const source = "new Stalled('X', `the Secret ${name} is gone: ` + 'create it again')";
  test.each([
    ['the Secret … is gone: create it again', []],
    ['the Secret … is lost for good', ['the Secret … is lost for good']],
    ['… is gone: make it again', ['… is gone: make it again']],
  ])('%s', (message, expected) => expect(missingMessages(`- \`${message}\`: do\n`, source)).toEqual(expected));
});

describe("commands that fail on a reader's machine", () => {
  const block = (code: string) => `${fence}sh\n${code}\n${fence}\n`;
  test.each([
    ['a TypeScript file, run by any Node', 'Run `node test/a.ts` once.', ['node test/a.ts']],
    ['the same in a block', block('node test/a.ts'), ['node test/a.ts']],
    ['by the Node of the project', 'Run `npx node test/a.ts` or `node_modules/.bin/node a.ts`.', []],
    ['wrapped base64, which only GNU has', block('echo a | base64 -w0'), ['base64 -w0']],
    ['an option that only GNU base64 has', block('echo a | base64 -d'), ['base64 -d']],
    ['base64 as everywhere', block("base64 < a | tr -d '\\n' | base64 --decode"), []],
    [
      "the local cluster's programs before Node",
      block('export PATH=$HOME/.cache/coppice/bin:$PATH'),
      ['PATH=$HOME/.cache/coppice/bin'],
    ],
    ["the local cluster's programs after Node", block('export PATH=$PATH:$HOME/.cache/coppice/bin'), []],
    ['jq without a word', block('curl a | jq .b'), ['jq']],
    ['jq with one', block('curl a | jq .b   # needs jq'), []],
  ])('%s', (_what, page, found) => {
    expect(unportableCommands(page).map((problem) => problem.split(':')[0])).toEqual(found);
  });
});
