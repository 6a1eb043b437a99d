import type { WebSocket } from 'ws';

/** So much may wait in memory for a slow reader; then the source is read no further until it has gone out. */
const mostBufferedBytes = 1024 * 1024;

/**
 * Sends each message as one JSON text frame, in order, no faster than the reader takes them.
 * @param signal aborted when the connection has closed: what is left is not sent
 */
export async function sendAll(
  webSocket: Pick<WebSocket, 'send' | 'bufferedAmount'>,
  messages: AsyncIterable<object>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of messages) {
    if (signal.aborted) return;
    const frame = JSON.stringify(message);
    // A send that fails, or waits while the connection dies, is followed by its close.
    if (webSocket.bufferedAmount < mostBufferedBytes) webSocket.send(frame);
    else await new Promise<void>((resolve) => webSocket.send(frame, () => resolve()));
  }
}
