import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Logger } from 'pino';
import type { Environment } from '../../crds/environment.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Caches } from '../cluster/caches.ts';
import { currentBuild } from './contents.ts';
import { keepAlive } from './keepalive.ts';
import { sendAll } from './log-sending.ts';

/** How a log stream ends. 1000 and 1011 are RFC 6455's; the others are ours, from the range for applications. */
export const CLOSE = {
  ended: 1000,
  failed: 1011,
  unauthorized: 4401,
  gone: 4404,
  noBuild: 4408,
} as const;

/** What the stream reads: build-logs' BuildLogReader. */
export interface LogReader {
  /** Everything with a seq of at least `from`, then what comes, until after the end message or the signal. */
  read(logId: string, options: { from?: number | undefined; signal: AbortSignal }): AsyncIterable<object>;
}

export interface LogStreamDependencies {
  cache: Caches['environments'];
  reader: LogReader;
  logger: Logger;
  /** Default 30 s. */
  keepaliveMs?: number;
  /** How long a client waits for a build to begin. Default 10 min. */
  beginTimeoutMs?: number;
  /** What an environment that is gone may still say. Default 5 s. */
  goneGraceMs?: number;
}

export interface LogRequest {
  environment: Environment;
  /** Absent: the running or last build, or the one that is about to begin. */
  build?: number | undefined;
  from?: number | undefined;
  /** Why the caller may not read on, if so: asked again at every ping. */
  mayRead: () => Promise<boolean>;
}

/** Streams one build's log over an accepted WebSocket until its end; never throws. */
export async function streamLog(
  { webSocket, socket }: { webSocket: WebSocket; socket: Socket },
  request: LogRequest,
  dependencies: LogStreamDependencies,
): Promise<void> {
  const { keepaliveMs = 30_000, logger } = dependencies;
  const closed = new AbortController();
  webSocket.once('close', () => closed.abort());
  // A broken frame from the client, or a broken connection: the close that follows says enough.
  webSocket.on('error', () => undefined);
  keepAlive(webSocket, socket, keepaliveMs);
  closeWhenForbidden(webSocket, request, keepaliveMs, logger);
  try {
    await stream(webSocket, request, dependencies, closed.signal);
  } catch (error) {
    if (closed.signal.aborted) return;
    logger.error({ err: error, environment: keyOf(request.environment) }, 'a log stream failed');
    webSocket.close(CLOSE.failed, 'the log cannot be read now; connect again, with ?from=');
  }
}

async function stream(
  webSocket: WebSocket,
  { environment, build, from }: LogRequest,
  { cache, reader, beginTimeoutMs = 600_000, goneGraceMs = 5000 }: LogStreamDependencies,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(environment);
  const { uid = '' } = environment.metadata;
  const isGone = (object: Environment | undefined) => object?.metadata.uid !== uid;
  const closeGone = () => webSocket.close(CLOSE.gone, 'the environment is gone');
  const hasBegun = (object: Environment | undefined) =>
    isGone(object) || (object && currentBuild(object)) !== undefined;

  let number = build;
  if (number === undefined) {
    let found: Environment | undefined;
    try {
      found = await cache.waitFor(key, hasBegun, { timeoutMs: beginTimeoutMs, signal });
    } catch (error) {
      if (!(error instanceof WaitTimeoutError)) throw error;
      webSocket.close(CLOSE.noBuild, `no build began within ${beginTimeoutMs / 1000} s`);
      return;
    }
    number = found && !isGone(found) ? currentBuild(found) : undefined;
    if (number === undefined) return closeGone();
  }

  // Its log may lack an end then: who waits for that is told instead.
  cache.waitFor(key, isGone, { timeoutMs: Infinity, signal }).then(
    () => setTimeout(closeGone, goneGraceMs).unref(),
    () => undefined, // The stream ended first.
  );
  await sendAll(webSocket, reader.read(`${uid}/${number}`, { from, signal }), signal);
  webSocket.close(CLOSE.ended, 'the build has ended');
}

/** A login that ends, and a membership, end the streams that they opened. */
function closeWhenForbidden(webSocket: WebSocket, { mayRead }: LogRequest, intervalMs: number, logger: Logger): void {
  const timer = setInterval(() => {
    mayRead().then(
      (may) => {
        if (!may) webSocket.close(CLOSE.unauthorized, 'the token is not valid any more, or may not read this');
      },
      (error: unknown) => logger.warn({ err: error }, 'cannot tell whether a log stream may go on'),
    );
  }, intervalMs);
  webSocket.once('close', () => clearInterval(timer));
}
