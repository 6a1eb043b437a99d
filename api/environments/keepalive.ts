import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/**
 * Pings the client at every interval and closes the connection if a whole interval passes without a pong or bytes read;
 * a slow reader's pong waits behind unread data.
 */
export function keepAlive(webSocket: WebSocket, socket: Socket, intervalMs: number): void {
  let alive = true;
  let taken = 0;
  const terminateUnlessAlive = () => {
    if (!alive) webSocket.terminate();
  };
  webSocket.on('pong', () => {
    alive = true;
  });
  const timer = setInterval(() => {
    const takenNow = socket.bytesWritten - socket.writableLength;
    if (!alive && takenNow === taken) {
      // While this process was busy, the pong may have arrived without having been read.
      setImmediate(terminateUnlessAlive);
      return;
    }
    alive = false;
    webSocket.ping();
    taken = socket.bytesWritten - socket.writableLength;
  }, intervalMs);
  webSocket.once('close', () => clearInterval(timer));
}
