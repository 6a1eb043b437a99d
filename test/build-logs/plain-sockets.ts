import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { frameAt } from './text-frames.ts';

/** Larger than a frame of a log. */
const roomBytes = 256 * 1024;
const opcodes = { text: 1, close: 8 };

/**
 * `opened` resolves when the server has accepted the connection, `closed` when it has ended. Both reject if it breaks.
 */
interface Reading {
  opened: Promise<unknown>;
  closed: Promise<void>;
}

/** Reads all data; passes each chunk to `onChunk`, valid only during the call. */
export function readBytes(port: number, onChunk: (chunk: Buffer) => void): Reading {
  const { socket, closed } = reader(port, onChunk);
  return { opened: once(socket, 'connect'), closed };
}

/**
 * Reads a WebSocket's unfragmented text frames; passes each to `onText`, valid only during the call. Fifty such readers
 * use less CPU time than fifty general clients, so that mainly the server is measured.
 */
export function readTextFrames(port: number, onText: (text: Buffer) => void): Reading {
  const held = Buffer.allocUnsafe(2 * roomBytes);
  let length = 0;
  let isOpen = false;
  const switched = new EventEmitter();
  const { socket, closed } = reader(port, (chunk) => {
    if (chunk.copy(held, length) < chunk.length) throw new Error('a frame is longer than there is room for');
    length += chunk.length;
    let at = 0;
    if (!isOpen) {
      at = held.subarray(0, length).indexOf('\r\n\r\n') + 4;
      if (at < 4) return;
      const [status = ''] = held.toString('latin1', 0, at).split('\r\n');
      if (!status.includes(' 101 ')) throw new Error(`no WebSocket: ${status}`);
      isOpen = true;
      switched.emit('opened');
    }
    for (let frame = frameAt(held, at, length); frame; frame = frameAt(held, at, length)) {
      if (frame.opcode === opcodes.text) onText(held.subarray(frame.start, frame.end));
      if (frame.opcode === opcodes.close) socket.end();
      at = frame.end;
    }
    held.copyWithin(0, at, length);
    length -= at;
  });
  socket.write(
    `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  return { opened: once(switched, 'opened'), closed };
}

/** Reuses one buffer, because garbage collection of the readers' buffers would affect the measurement. */
function reader(port: number, onChunk: (chunk: Buffer) => void) {
  const buffer = Buffer.allocUnsafe(roomBytes);
  const callback = (size: number): boolean => {
    onChunk(buffer.subarray(0, size));
    return true;
  };
  const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } });
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => resolve());
  });
  return { socket, closed };
}
