import type { WebSocket } from 'ws';
import type { LogPage } from '../../build-logs/page.ts';

/** So much may wait in memory for a slow reader; then the source is read no further until it has gone out. */
const mostBufferedBytes = 1024 * 1024;
const text = { binary: false };

/**
 * Sends pages as text frames of JSON lines, in order, no faster than the reader takes them. The frames' bytes are the
 * page's own, shared by all who read it.
 * @param signal aborted when the connection has closed: what is left is not sent
 */
export async function sendPages(
  webSocket: Pick<WebSocket, 'send' | 'bufferedAmount'>,
  pages: AsyncIterable<LogPage>,
  signal: AbortSignal,
): Promise<void> {
  for await (const page of pages) {
    for (const frame of page.frames()) {
      if (signal.aborted) return;
      // A send that fails, or waits while the connection dies, is followed by its close.
      if (webSocket.bufferedAmount < mostBufferedBytes) webSocket.send(frame, text);
      else await new Promise<void>((resolve) => webSocket.send(frame, text, () => resolve()));
    }
  }
}
