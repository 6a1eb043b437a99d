import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { buildLogKeys } from '../../build-logs/keys.ts';
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

export interface LogStreamDependencies extends LogTimes {
  cache: Caches['environments'];
  reader: Pick<LogReader, 'read'>;
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
  /** Sends a first frame that says which build it is, of which commit. */
  header?: boolean;
  /** Whether the caller may still read: asked again at every ping. */
  mayRead: () => Promise<boolean>;
}

/** Streams one build's log over an accepted WebSocket until its end; never throws. */
export function streamLog(
  accepted: AcceptedSocket,
  request: LogRequest,
  dependencies: LogStreamDependencies,
): Promise<void> {
  const { keepaliveMs = 30_000, logger } = dependencies;
  const options = { mayRead: request.mayRead, keepaliveMs, logger };
  return serveLog(accepted, options, (closed) => stream(accepted.webSocket, request, dependencies, closed));
}

async function stream(
  webSocket: WebSocket,
  { environment, build, from, header = false }: LogRequest,
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

  if (header) {
    const view = numberedBuild(cache.get(key) ?? environment, number) ?? { number };
    webSocket.send(JSON.stringify({ header: view }));
  }
  const silent = new AbortController();
  const signal = AbortSignal.any([closed, silent.signal]);
  const isOver = () => isGone() || isBuildOver(cache.get(key), number);
  const log = reader.read(buildLogKeys(`${uid}/${number}`), { from, signal });
  const { pages, stop } = watchSilence(log, isOver, () => silent.abort(), silenceMs);
  try {
    await sendPages(webSocket, pages, signal);
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
