import { expect, test } from '@jest/globals';
import { parsePointer } from './lfs-pointer.ts';

const oid = 'a'.repeat(64);
const version = 'version https://git-lfs.github.com/spec/v1';

test('reads a pointer', () => {
  expect(parsePointer(`${version}\noid sha256:${oid}\nsize 12\n`)).toEqual({ oid, size: 12 });
  expect(parsePointer(`${version}\next-0-foo sha256:${oid}\noid sha256:${oid}\nsize 0\n`)).toEqual({ oid, size: 0 });
});

test.each([
  '',
  'text',
  `${version}\nsize 12\n`,
  `${version}\noid sha256:${oid}\n`,
  `${version}\noid sha256:../../x\nsize 12\n`,
  `${version}\noid sha256:${oid}\nsize -1\n`,
  `${version}\noid md5:${oid}\nsize 1\n`,
  `version https://hawser.github.com/spec/v1\noid sha256:${oid}\nsize 12\n`,
  `${version}\noid sha256:${oid}\nsize 12\n${'x'.repeat(2000)}`,
])('does not read %j as a pointer', (text) => {
  expect(parsePointer(text)).toBeUndefined();
});
