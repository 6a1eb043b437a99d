import { STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** By the codes of Node's parser; whatever else it cannot read is a 400. */
const known: Readonly<Record<string, { status: number; error: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: 'the headers are too large: the limit is 16 KiB' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'the request was not sent in time' },
};
const unreadable = { status: 400, error: 'this is not a valid HTTP request' };

/** What Node's parser refuses never gets to express: it is answered in the same form as every other error. */
export function answerUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex & { bytesWritten?: number }) => {
    // After an answer has started, or when nobody listens, another one would only be taken for a part of it.
    if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten !== 0) {
      socket.destroy();
      return;
    }
    const { status, error: message } = known[error.code ?? ''] ?? unreadable;
    const body = JSON.stringify({ error: message });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      'X-Content-Type-Options: nosniff',
      'Cache-Control: no-store',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
