import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { retiredWords } from './retired-words.ts';

/** A line of allowed.txt: the files in which a word is permitted. */
interface Exception {
  files: string;
  word: RegExp;
}

const exceptions: Exception[] = readFileSync('test/language/allowed.txt', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [files = '', word = ''] = line.split(/\s+/);
    return { files, word: new RegExp(`^(${word})$`, 'i') };
  });

/**
 * Text files of the repository, except fixtures, which others wrote, and lock files and figures, which are generated.
 * The only JSON file is the dashboard, whose titles are read by administrators.
 */
const ignored =
  /^test\/(fixtures|sample\/repository)\/|^(LICENSE|(panel|cli)\/licenses\.txt)$|(?<!\/dashboard)\.json$|\.(go|mod|sum|png|ico|tgz)$/;
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !ignored.test(file) && !file.startsWith('test/language/'));

test('finds no retired word of docs/reference/glossary.md in names, comments, messages or documentation', () => {
  const found = files
    .flatMap((file) => retiredWords(file, textOf(file)))
    .filter(({ file, found: word }) => !exceptions.some((one) => matchesGlob(file, one.files) && one.word.test(word)))
    .map(({ file, line, found: word, use }) => `${file}:${line}: "${word}": write ${use}`);
  expect(found).toEqual([]);
});

test('needs each exception', () => {
  const unused = exceptions.filter(
    ({ files: pattern, word }) =>
      !files.some(
        (file) => matchesGlob(file, pattern) && retiredWords(file, textOf(file)).some(({ found }) => word.test(found)),
      ),
  );
  expect(unused).toEqual([]);
});

describe('a retired word', () => {
  test.each([
    ['in a name', 'const mostEnvironments = 1;', ['mostEnvironments']],
    ['in a private name', 'this.#told.clear();', ['#told']],
    ['in a constant', 'export const LONGEST_LINE = 1;', ['LONGEST_LINE']],
    ['in a name inside a template', 'log(`${party.id} waits`);', ['party']],
    ['in a comment', '/** The throwaway builder. */', ['throwaway']],
    ['in a comment at the end of a line', 'start(); // begun by hand', ['begun', 'by hand']],
    ['in a message', "throw new Error('the name is no label');", ['is no l']],
    ['of another meaning in a message', "throw new Error('there is no label');", []],
    ['in an address', "connect('http://party.example');", []],
    ['in a type of arguments', 'interface SourceParts {}', ['SourceParts']],
    ['in a text of one word', "startHarness('life');", ['life']],
    ['in a text that is not a word', "connect('/life/told');", []],
    ['as a permission', 'if (mayRead) apiMayImport();', ['mayRead', 'apiMayImport']],
    ['as a possibility', 'if (mayBeStale) reload();', []],
    ['in two words of a name', 'const byHand = 1;', ['byHand']],
    ['with a prefix', 'const unsaidMs = 1;', ['unsaidMs']],
    ['in a reason', '// Refused, for too many wait.', [', for too many wait']],
    ['in a reason with a subject', '// Closed, for the policies let nobody in.', [', for the policies let']],
    ['of another meaning after a comma', '// A page, for the parts that have results.', []],
    ['in the plural', '// Steps of CI systems are no objects.', ['are no o']],
    ['at the start of a sentence', '// Two apply. Of these the later one counts.', ['. Of t']],
    ['as a part of a longer word', 'const returned = lifetime(almost);', []],
  ])('%s', (_where, text, expected) => {
    expect(retiredWords('a.ts', text).map(({ found }) => found)).toEqual(expected);
  });

  test('is found in the name of a file', () => {
    expect(retiredWords('operator/life-builds.test.ts', '')).toMatchObject([
      { line: 0, use: 'lifecycle or simulation' },
    ]);
  });

  test('is found in keys and names of YAML', () => {
    const text = 'variables:\n  - name: place\n    mostBuilds: 1\n    name: "place"\n    value: place\n';
    expect(retiredWords('a.yaml', text).map(({ line, found }) => [line, found])).toEqual([
      [2, 'place'],
      [3, 'mostBuilds'],
    ]);
  });

  test('is found in a page, with its line', () => {
    expect(retiredWords('docs/a.md', 'One\nThe parties wait.')).toMatchObject([{ line: 2, found: 'parties' }]);
  });
});

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // The file is deleted in the working tree.
  }
}
