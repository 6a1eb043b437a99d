import { expect, test } from '@jest/globals';
import { frameAt } from './text-frames.ts';

/** A server's text frame, after some bytes of another. */
function framed(size: number): Buffer {
  const header = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  header[0] = 0x81;
  header[1] = size < 126 ? size : size < 65_536 ? 126 : 127;
  if (header.length === 4) header.writeUInt16BE(size, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([Buffer.from('xyz'), header, Buffer.alloc(size, 'a')]);
}

test.each([0, 1, 125, 126, 65_535, 65_536])('finds a frame of %i bytes once it is complete', (size) => {
  const held = framed(size);
  for (let length = 3; length < held.length; length += Math.max(1, Math.floor(size / 50))) {
    expect(frameAt(held, 3, length)).toBeUndefined();
  }
  expect(frameAt(held, 3, held.length - 1)).toBeUndefined();
  expect(frameAt(held, 3, held.length)).toEqual({ opcode: 1, start: held.length - size, end: held.length });
  expect(frameAt(Buffer.concat([held, held]), 3, held.length + 2)).toEqual({
    opcode: 1,
    start: held.length - size,
    end: held.length,
  });
});
