import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { buildLogKeys, type LogKeys } from '../../build-logs/keys.ts';
import type { LogReader } from '../../build-logs/reader.ts';
import type { Environment } from '../../crds/environment.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Caches } from '../cluster/caches.ts';
import { numberedBuild } from './build-view.ts';
import { currentBuild } from './contents.ts';
import { sendPages } from './log-sending.ts';
import { watchSilence } from './log-silence.ts';
import { type AcceptedSocket, CLOSE, serveLog } from './log-socket.ts';

export interface LogStreamOptions extends LogTimes {
  cache: Caches['environments'];
  reader: Pick<LogReader, 'read' | 'readKept'>;
  logger: Logger;
}

/** Timeouts of log streams. */
export interface LogTimes {
  /** Interval of the pings. Default 30 s. */
  keepaliveMs?: number;
  /** Interval of the checks whether the caller can still read the log. Default 30 s. */
  checkMs?: number;
  /** How long a client waits for a build to start. Default 10 min. */
  startTimeoutMs?: number;
  /**
   * The stream ends when no line arrives for this long after the build has ended or its environment was deleted.
   * Default 10 s.
   */
  silenceMs?: number;
  /** The connection of a client that does not read a frame within this time is closed. Default 60 s. */
  stallTimeoutMs?: number;
}

export interface LogRequest {
  environment: Environment;
  /** Defaults to the running or last build, or the one about to start. */
  build?: number | undefined;
  from?: number | undefined;
  /** Whether to send a first frame with the build and its commit. */
  header?: boolean;
  /** Whether the caller can still read the log. */
  canRead: () => Promise<boolean>;
}

/** Streams one build's log over an accepted WebSocket until its end; never throws. */
export function streamLog(accepted: AcceptedSocket, request: LogRequest, options: LogStreamOptions): Promise<void> {
  const { keepaliveMs, checkMs, logger } = options;
  const socket = { canRead: request.canRead, keepaliveMs, checkMs, logger };
  return serveLog(accepted, socket, (closed) => stream(accepted.webSocket, request, options, closed));
}

async function stream(
  webSocket: WebSocket,
  { environment, build, from, header = false }: LogRequest,
  { cache, reader, startTimeoutMs = 600_000, silenceMs = 10_000, stallTimeoutMs }: LogStreamOptions,
  closed: AbortSignal,
): Promise<void> {
  const key = keyOf(environment);
  const { uid = '' } = environment.metadata;
  const current = (object: Environment | undefined) => (object?.metadata.uid === uid ? object : undefined);
  const isGone = () => current(cache.get(key)) === undefined;
  const close = (code: number, reason: string) => webSocket.close(code, reason);

  const options = { timeoutMs: startTimeoutMs, signal: closed };
  const number = await buildToRead(cache, key, (object) => startedBuild(current(object), build), options);
  if (number === 'none')
    return close(CLOSE.noBuild, `no build started within ${startTimeoutMs / 1000} s. Request one, or reconnect`);
  if (number === 'gone') return close(CLOSE.gone, 'the environment was deleted, so its log ends');

  if (header) {
    const view = numberedBuild(cache.get(key) ?? environment, number) ?? { number };
    webSocket.send(JSON.stringify({ header: view }));
  }
  const silent = new AbortController();
  const signal = AbortSignal.any([closed, silent.signal]);
  const isOver = () => isGone() || isBuildOver(cache.get(key), number);
  const keys = buildLogKeys(`${uid}/${number}`);
  if (from === undefined && isEarlier(cache.get(key), number) && (await isMissing(reader, keys, signal)))
    return close(CLOSE.lost, `the log of build ${number} is no longer kept`);
  const log = reader.read(keys, { from, signal });
  const { pages, stop } = watchSilence(log, isOver, () => silent.abort(), silenceMs);
  try {
    await sendPages(webSocket, pages, { signal, stallTimeoutMs });
  } finally {
    stop();
  }
  if (!silent.signal.aborted) return close(CLOSE.ended, 'the build has ended');
  if (isGone()) return close(CLOSE.gone, 'the environment was deleted, so its log ends');
  close(
    CLOSE.lost,
    'the build has ended, and the rest of its log is no longer kept. Request a build for a complete log',
  );
}

/** Returns the build whose log to read: this one, or else the current one; undefined until it has started. */
function startedBuild(environment: Environment | undefined, build: number | undefined): number | 'gone' | undefined {
  if (!environment) return 'gone';
  if (build === undefined) return currentBuild(environment);
  return build <= (environment.status?.build?.number ?? 0) ? build : undefined;
}

/** Waits until there is a build whose log can be read, or the environment is deleted. */
async function buildToRead(
  cache: Caches['environments'],
  key: string,
  read: (object: Environment | undefined) => number | 'gone' | undefined,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<number | 'gone' | 'none'> {
  try {
    return read(await cache.waitFor(key, (object) => read(object) !== undefined, options)) ?? 'none';
  } catch (error) {
    if (error instanceof WaitTimeoutError) return 'none';
    throw error;
  }
}

/** Returns whether another build has started since, so that no line of this one is still to come. */
function isEarlier(environment: Environment | undefined, number: number): boolean {
  return number < (environment?.status?.build?.number ?? 0);
}

/** Returns whether nothing of a log is kept; false if it cannot be read now. */
async function isMissing(reader: Pick<LogReader, 'readKept'>, keys: LogKeys, signal: AbortSignal): Promise<boolean> {
  const pages = reader.readKept(keys, { signal });
  try {
    return (await pages.next()).done === true && !signal.aborted;
  } catch {
    // The log is read all the same, which waits for Redis and reports its failure.
    return false;
  } finally {
    await pages.return(undefined);
  }
}

function isBuildOver(environment: Environment | undefined, number: number): boolean {
  const build = environment?.status?.build;
  return build !== undefined && (build.number > number || build.finishedAt !== undefined);
}
