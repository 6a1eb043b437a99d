import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { connect } from 'node:net';

const TEXT = 1;
const CLOSE = 8;
/** More than a frame of a log. */
const roomBytes = 256 * 1024;

/** Resolves `opened` when the server has taken it, and `closed` when the connection has ended. */
export interface Reading {
  opened: Promise<void>;
  closed: Promise<void>;
}

/** Reads whatever comes; gives `onChunk` each part of it, for the call alone. */
export function readBytes(port: number, onChunk: (chunk: Buffer) => void): Reading {
  const { socket, closed } = reader(port, onChunk);
  return { opened: new Promise((resolve) => socket.once('connect', resolve)), closed };
}

/**
 * Reads a WebSocket's text frames, none of them fragmented (RFC 6455); gives `onText` each, for the call alone. Fifty such
 * readers take less of a processor than fifty clients for every use: what is measured is the server.
 */
export function readTextFrames(port: number, onText: (text: Buffer) => void): Reading {
  const held = Buffer.allocUnsafe(2 * roomBytes);
  let length = 0;
  let isOpen = false;
  const switched = new EventEmitter();
  const { socket, closed } = reader(port, (chunk) => {
    length += chunk.copy(held, length);
    let at = 0;
    if (!isOpen) {
      at = held.subarray(0, length).indexOf('\r\n\r\n') + 4;
      if (at < 4) return;
      isOpen = true;
      switched.emit('opened');
    }
    for (let frame = frameAt(held, at, length); frame; frame = frameAt(held, at, length)) {
      if (frame.opcode === TEXT) onText(held.subarray(frame.begin, frame.end));
      if (frame.opcode === CLOSE) socket.end();
      at = frame.end;
    }
    held.copyWithin(0, at, length);
    length -= at;
  });
  socket.write(
    `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  return { opened: new Promise((resolve) => switched.once('opened', () => resolve())), closed };
}

/** Reads into one buffer again and again: what fifty of them would leave to the collector would be measured too. */
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

/** The whole frame that begins there, if all of it has come; a server masks none. */
function frameAt(held: Buffer, at: number, length: number) {
  if (length < at + 2) return undefined;
  const short = (held[at + 1] ?? 0) & 0x7f;
  const header = { 126: 4, 127: 10 }[short] ?? 2;
  if (length < at + header) return undefined;
  const size = { 2: short, 4: held.readUInt16BE(at + 2) }[header] ?? Number(held.readBigUInt64BE(at + 2));
  const begin = at + header;
  return length < begin + size ? undefined : { opcode: (held[at] ?? 0) & 0x0f, begin, end: begin + size };
}
