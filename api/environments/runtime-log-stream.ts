import type { RuntimeWish } from '../../build-logs/runtime-wish.ts';
import type { Environment } from '../../crds/environment.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { sendPages } from './log-sending.ts';
import { type AcceptedSocket, CLOSE, serveLog } from './log-socket.ts';
import type { LogStreamDependencies } from './log-stream.ts';
import type { RuntimeLogRange, RuntimeLogs } from './runtime-logs.ts';

export interface RuntimeLogRequest {
  environment: Environment;
  wish: RuntimeWish;
  range: RuntimeLogRange;
  /** Whether the caller may still read: asked again at every ping. */
  mayRead: () => Promise<boolean>;
}

export interface RuntimeLogStreamDependencies extends Omit<LogStreamDependencies, 'reader'> {
  runtimeLogs: Pick<RuntimeLogs, 'follow'>;
}

/** Streams one service's log over an accepted WebSocket until the environment is gone; never throws. */
export function streamRuntimeLog(
  accepted: AcceptedSocket,
  { environment, wish, range, mayRead }: RuntimeLogRequest,
  { runtimeLogs, cache, keepaliveMs = 30_000, silenceMs = 10_000, logger }: RuntimeLogStreamDependencies,
): Promise<void> {
  const { webSocket } = accepted;
  return serveLog(accepted, { mayRead, keepaliveMs, logger }, async (closed) => {
    const gone = new AbortController();
    const timer = setInterval(() => {
      if (cache.get(keyOf(environment))?.metadata.uid !== wish.uid) gone.abort();
    }, silenceMs);
    try {
      const signal = AbortSignal.any([closed, gone.signal]);
      await sendPages(webSocket, runtimeLogs.follow(wish, range, signal), signal);
    } finally {
      clearInterval(timer);
    }
    webSocket.close(CLOSE.gone, 'the environment is gone');
  });
}
