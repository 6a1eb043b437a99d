import { STATUS_CODES, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { cutIfClosing } from '../limits/unread-answers.ts';

/** Responses by error code of Node's HTTP parser; other codes get a 400. */
const known: Readonly<Record<string, { status: number; error: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    error: 'the address and the headers are too large: the limit is 16 KiB together. Shorten the query or the headers',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'the request did not arrive in time. Send it again' },
};
const unreadable = {
  status: 400,
  error: 'this is not a valid HTTP request. Check the client, or the proxy in front of the API',
};

/** Responds to requests that Node's HTTP parser rejects before express sees them, in the format of all other errors. */
export function answerUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex & { bytesWritten?: number }) => {
    // If a response has started, the client would read this one as a part of it.
    if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten !== 0) {
      if (!(socket instanceof Socket && cutIfClosing({ socket }))) socket.destroy();
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
