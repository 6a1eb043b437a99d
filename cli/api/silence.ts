import type { WebSocket } from 'ws';

/** Time without a ping, which the server sends every 30 s, after which a connection is lost, in milliseconds. */
const silenceMs = 75_000;

/** Ends a WebSocket whose server is silent: a connection can be lost without a sign, for example while a laptop sleeps. */
export function endWhenSilent(socket: WebSocket): void {
  socket.once('open', () => {
    const timer = setTimeout(() => {
      // A paused socket receives no pings.
      if (socket.isPaused) timer.refresh();
      else socket.terminate();
    }, silenceMs);
    for (const event of ['ping', 'message'] as const) socket.on(event, () => timer.refresh());
    socket.once('close', () => clearTimeout(timer));
  });
}
