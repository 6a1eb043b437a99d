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
import { watchSilence } from './log-silence.ts';

/** How a log stream ends. 1000 and 1011 are RFC 6455's; the others are ours, from the range for applications. */
const CLOSE = {
  ended: 1000,
  failed: 1011,
  unauthorized: 4401,
  gone: 4404,
  noBuild: 4408,
  lost: 4410,
} as const;

/** What the stream reads: build-logs' BuildLogReader. */
export interface LogReader {
  /** Everything with a seq greater than `from`, then what comes, until after the end message or the signal. */
  read(logId: string, options: { from?: number | undefined; signal: AbortSignal }): AsyncIterable<object>;
}

export interface LogStreamDependencies extends LogTimes {
  cache: Caches['environments'];
  reader: LogReader;
  logger: Logger;
}

/** How long things may take. */
export interface LogTimes {
  /** Default 30 s. */
  keepaliveMs?: number;
  /** How long a client waits for a build to begin. Default 10 min. */
  beginTimeoutMs?: number;
  /** How long a log may be silent once its build is over, or its environment gone. Default 10 s. */
  silenceMs?: number;
}

export interface LogRequest {
  environment: Environment;
  /** Absent: the running or last build, or the one that is about to begin. */
  build?: number | undefined;
  from?: number | undefined;
  /** Whether the caller may still read: asked again at every ping. */
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
  { cache, reader, beginTimeoutMs = 600_000, silenceMs = 10_000 }: LogStreamDependencies,
  closed: AbortSignal,
): Promise<void> {
  const key = keyOf(environment);
  const { uid = '' } = environment.metadata;
  const current = (object: Environment | undefined) => (object?.metadata.uid === uid ? object : undefined);
  const isGone = () => current(cache.get(key)) === undefined;
  const close = (code: number, reason: string) => webSocket.close(code, reason);

  const number = build ?? (await buildToRead(cache, key, current, { timeoutMs: beginTimeoutMs, signal: closed }));
  if (number === 'none') return close(CLOSE.noBuild, `no build began within ${beginTimeoutMs / 1000} s`);
  if (number === 'gone') return close(CLOSE.gone, 'the environment is gone');

  const silent = new AbortController();
  const signal = AbortSignal.any([closed, silent.signal]);
  const isOver = () => isGone() || isBuildOver(cache.get(key), number);
  const log = reader.read(`${uid}/${number}`, { from, signal });
  const { messages, stop } = watchSilence(log, isOver, () => silent.abort(), silenceMs);
  try {
    await sendAll(webSocket, messages, signal);
  } finally {
    stop();
  }
  if (!silent.signal.aborted) return close(CLOSE.ended, 'the build has ended');
  if (isGone()) return close(CLOSE.gone, 'the environment is gone');
  close(CLOSE.lost, 'the build is over, but the rest of its log is not there any more');
}

/** Waits until there is a build whose log can be read, or the environment is gone. */
async function buildToRead(
  cache: Caches['environments'],
  key: string,
  current: (object: Environment | undefined) => Environment | undefined,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<number | 'gone' | 'none'> {
  const outcome = (object: Environment | undefined) => {
    const environment = current(object);
    return environment ? currentBuild(environment) : 'gone';
  };
  try {
    return outcome(await cache.waitFor(key, (object) => outcome(object) !== undefined, options)) ?? 'none';
  } catch (error) {
    if (error instanceof WaitTimeoutError) return 'none';
    throw error;
  }
}

function isBuildOver(environment: Environment | undefined, number: number): boolean {
  const build = environment?.status?.build;
  return build !== undefined && (build.number > number || build.finishedAt !== undefined);
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
