import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { fileLocations, type HashedFile } from './file-objects.ts';

const hashKey = Buffer.from('key');

function file(path: string, bytes: number, content = path): HashedFile {
  return { key: path, path, bytes, hash: createHash('sha256').update(content).digest('hex') };
}

const objectsOf = (files: readonly HashedFile[], secret = false) =>
  fileLocations(files, secret, hashKey).map(({ object }) => object);

/** 900 KiB, the most that a service file mounts: ten large files, and small ones. */
const folder = [
  ...Array.from({ length: 10 }, (_, index) => file(`large-${index}`, 40 * 1024)),
  ...Array.from({ length: 490 }, (_, index) => file(`small-${index}`, 1024)),
];

test('names an object by a keyed hash', () => {
  const [object] = objectsOf([file('a', 5)]);
  expect(object).toMatch(/^file-[0-9a-f]{20}$/);
  expect(fileLocations([file('a', 5)], false, Buffer.from('other'))[0]?.object).not.toBe(object);
});

test.each([
  ['a file at two paths', file('a', 5, 'x'), file('b', 5, 'x'), true],
  ['files with other contents', file('a', 5, 'x'), file('a', 5, 'y'), false],
])('%s: the same object is %s', (_what, one, other, isSame) => {
  expect(objectsOf([one])[0] === objectsOf([other])[0]).toBe(isSame);
});

test('never stores a secret file with others', () => {
  expect(objectsOf([file('a', 5)], true)).not.toEqual(objectsOf([file('a', 5)], false));
});

test('shares the object of a large file of a folder with the same file mounted by itself', () => {
  const large = file('conf/large', 32 * 1024, 'x');
  expect(fileLocations([file('conf/small', 5), large], false, hashKey)[1]).toEqual(
    fileLocations([file('other', 32 * 1024, 'x')], false, hashKey)[0],
  );
});

test('stores the largest folder in few objects, each far below the size limit', () => {
  const objects = Map.groupBy(folder, ({ path }) => objectsOf(folder)[folder.findIndex((one) => one.path === path)]);
  expect(objects.size).toBeLessThanOrEqual(30);
  for (const files of objects.values()) {
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(100 * 1024);
  }
});

test.each([
  ['large', 'large-3'],
  ['small', 'small-7'],
])('changes one object when a %s file changes', (_size, changed) => {
  const after = folder.map((one) => (one.path === changed ? file(one.path, one.bytes, 'changed') : one));
  const known = new Set(objectsOf(folder));
  expect(new Set(objectsOf(after).filter((object) => !known.has(object))).size).toBe(1);
});

test('changes one object when a file is added', () => {
  const known = new Set(objectsOf(folder));
  const added = objectsOf([...folder, file('added', 100)]).filter((object) => !known.has(object));
  expect(new Set(added).size).toBe(1);
});
