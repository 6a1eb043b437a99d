import { expect, test } from '@jest/globals';
import { SourceRefusedError } from '../errors.ts';
import { countEntries, entriesByPath, entryAt, parseTree } from './tree.ts';

const entries = parseTree(
  [
    '040000 tree a1\tweb',
    '100644 blob b1\tweb/with\nnewline',
    '120000 blob c1\tlink',
    '160000 commit d1\tmodule',
    '',
  ].join('\0'),
  'root',
);
const byPath = entriesByPath(entries);

test.each([
  ['.', 'folder', 'root'],
  ['', 'folder', 'root'],
  ['web', 'folder', 'a1'],
  ['web/with\nnewline', 'file', 'b1'],
  ['link', 'symlink', 'c1'],
  ['module', 'submodule', 'd1'],
])('%j', (path, type, id) => {
  expect(entryAt(byPath, path)).toMatchObject({ type, id });
});

test('has nothing behind a link or outside', () => {
  expect(entryAt(byPath, 'link/x')).toBeUndefined();
  expect(entryAt(byPath, '../web')).toBeUndefined();
});

test.each([
  ['a folder and a link', ['040000 tree a1\tctx', '100644 blob b1\tctx/file', '120000 blob c1\tctx']],
  ['a link and a folder', ['120000 blob c1\tctx', '100644 blob b2\tctx-other', '040000 tree a1\tctx']],
  ['two files', ['100644 blob b1\tctx', '100644 blob b1\tctx']],
])('refuses %s of one path', (_what, lines) => {
  const parse = () => parseTree(`${lines.join('\0')}\0`, 'root');
  expect(parse).toThrow(SourceRefusedError);
  expect(parse).toThrow('"ctx" is in the commit twice');
});

test('counts the entries of a tree, and refuses too many', () => {
  const entry = '100644 blob a1\tf\0';
  expect(countEntries('')).toBe(0);
  expect(countEntries(entry.repeat(150_000))).toBe(150_000);
  expect(() => countEntries(entry.repeat(150_001))).toThrow(/150001 files and folders, more than 150000\. Split/);
});
