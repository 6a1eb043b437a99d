import type { FollowRequest } from '../../build-logs/follow-request.ts';
import type { Environment } from '../../crds/environment.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { sendPages } from './log-sending.ts';
import { type AcceptedSocket, CLOSE, serveLog } from './log-socket.ts';
import type { LogStreamOptions } from './log-stream.ts';
import type { RuntimeLogRange, RuntimeLogs } from './runtime-logs.ts';

export interface RuntimeLogRequest {
  environment: Environment;
  followRequest: FollowRequest;
  range: RuntimeLogRange;
  /** Whether the caller can still read the log. */
  canRead: () => Promise<boolean>;
}

export interface RuntimeLogStreamOptions extends Omit<LogStreamOptions, 'reader'> {
  runtimeLogs: Pick<RuntimeLogs, 'follow'>;
}

/** Streams one service's log over an accepted WebSocket until the environment is deleted; never throws. */
export function streamRuntimeLog(
  accepted: AcceptedSocket,
  { environment, followRequest, range, canRead }: RuntimeLogRequest,
  { runtimeLogs, cache, keepaliveMs, checkMs, silenceMs = 10_000, stallTimeoutMs, logger }: RuntimeLogStreamOptions,
): Promise<void> {
  const { webSocket } = accepted;
  return serveLog(accepted, { canRead, keepaliveMs, checkMs, logger }, async (closed) => {
    const gone = new AbortController();
    const timer = setInterval(() => {
      if (cache.get(keyOf(environment))?.metadata.uid !== followRequest.uid) gone.abort();
    }, silenceMs);
    try {
      const signal = AbortSignal.any([closed, gone.signal]);
      await sendPages(webSocket, runtimeLogs.follow(followRequest, range, signal), { signal, stallTimeoutMs });
    } finally {
      clearInterval(timer);
    }
    webSocket.close(CLOSE.gone, 'the environment was deleted, so its log ends');
  });
}
