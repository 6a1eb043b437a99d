import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { pack, unpack } from './packed.ts';

test.each([
  ['small', { services: [] }],
  ['large', { text: randomBytes(64 * 1024).toString('base64') }],
])('unpacks what was packed: %s', async (_size, value) => {
  expect(await unpack(await pack(value))).toEqual(value);
});

test('returns nothing for nothing, and refuses what is not packed or would become too large', async () => {
  expect(await unpack(undefined)).toBeUndefined();
  await expect(unpack(Buffer.from('text').toString('base64'))).rejects.toThrow('incorrect header');
  for (const mebibytes of [17, 100]) {
    const packed = gzipSync(Buffer.alloc(mebibytes * 1024 * 1024)).toString('base64');
    await expect(unpack(packed)).rejects.toMatchObject({ code: 'ERR_BUFFER_TOO_LARGE' });
  }
});
