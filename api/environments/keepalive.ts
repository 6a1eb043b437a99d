import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/**
 * Pings the client at every interval and cuts the connection when a whole interval brought no sign of life: neither a
 * pong nor a byte taken, since a slow reader's pong waits behind what it still has to read.
 */
export function keepAlive(webSocket: WebSocket, socket: Socket, intervalMs: number): void {
  let alive = true;
  let taken = 0;
  webSocket.on('pong', () => {
    alive = true;
  });
  const timer = setInterval(() => {
    const takenNow = socket.bytesWritten - socket.writableLength;
    if (!alive && takenNow === taken) {
      webSocket.terminate();
      return;
    }
    alive = false;
    webSocket.ping();
    taken = socket.bytesWritten - socket.writableLength;
  }, intervalMs);
  webSocket.once('close', () => clearInterval(timer));
}
