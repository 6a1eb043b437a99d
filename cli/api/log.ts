import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { CliError, notSignedIn } from '../errors.ts';
import { RequestError, type Client } from './client.ts';
import { HANDSHAKE_TIMEOUT_MS, localhostLookup, textOf } from './http.ts';
import { endWhenSilent } from './silence.ts';

export interface FollowOptions {
  client: Client;
  path: string;
  query: Readonly<Record<string, string | number | undefined>>;
  onMessage: (message: BuildLogMessage) => Promise<void> | void;
  onReconnect: (why: string) => void;
  signal?: AbortSignal;
}

const retryMs = { first: 300, max: 10_000 };
/** Consecutive failed connection attempts before giving up: about a minute. */
const maxFailures = 10;

/** The end of a connection. */
type Ended = { code: number; reason: string } | { refusal: CliError | undefined; retryAfterMs?: number };

/**
 * Follows a log to its end. After a lost connection it continues after the last line that it returned, so no line is
 * lost or doubled.
 * @throws CliError
 */
export async function followLog(options: FollowOptions): Promise<void> {
  const { client, onReconnect, signal } = options;
  let last = 0;
  let failures = 0;
  for (;;) {
    const ended = await connectOnce(options, last, (seq) => {
      last = seq;
      failures = 0;
    });
    if (signal?.aborted === true) return;
    if ('refusal' in ended) {
      if (ended.refusal) throw ended.refusal;
      failures++;
    } else if (isEnd(client, ended)) return;
    else failures++;
    if (failures > maxFailures) throw new CliError(`${client.target.url} cannot be reached. Check your network`);
    onReconnect('code' in ended ? `the connection was lost (${ended.code})` : 'the server does not answer now');
    const wait = Math.min(retryMs.first * 2 ** (failures - 1), retryMs.max);
    await delay(Math.max(wait, 'retryAfterMs' in ended ? (ended.retryAfterMs ?? 0) : 0), undefined, { signal });
  }
}

/** Returns whether the log has ended. @throws CliError if its rest cannot be read */
function isEnd({ target: { url } }: Client, { code }: { code: number }): boolean {
  if (code === 1000) return true;
  if (code === 4401) throw notSignedIn(url, true);
  if (code === 4404) throw new CliError('the environment was deleted');
  if (code === 4408) throw new CliError('no build has started. Start one with `coppice env build`');
  if (code === 4410) throw new CliError('the rest of the log is no longer kept');
  return false;
}

function connectOnce(
  { client, path, query, onMessage, signal }: FollowOptions,
  last: number,
  passed: (seq: number) => void,
): Promise<Ended> {
  // The lines that `tail` selected are not requested again.
  const { tail, ...rest } = query;
  const url = client.url(path, last > 0 ? { ...rest, from: last } : { ...rest, tail });
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const limits = { handshakeTimeout: HANDSHAKE_TIMEOUT_MS, maxPayload: 1024 * 1024 };
  const socket = new WebSocket(url, { headers: client.headers, lookup: localhostLookup, ...limits });
  endWhenSilent(socket);
  let newest = last;
  let queue = Promise.resolve();
  const take = async (frame: string) => {
    for (const message of parseFrame(frame)) {
      if (message.seq <= newest) continue;
      await onMessage(message);
      newest = message.seq;
      passed(newest);
    }
  };
  return new Promise((resolve, reject) => {
    const stop = () => socket.terminate();
    signal?.addEventListener('abort', stop, { once: true });
    const finish = (ended: Ended) => {
      signal?.removeEventListener('abort', stop);
      // All received lines are returned before the next connection requests the lines after them.
      queue.then(() => resolve(ended), reject);
    };
    socket.on('message', (data: Buffer) => {
      const frame = data.toString('utf8');
      // A paused socket does not answer pings, so the server sends no faster than the reader reads.
      socket.pause();
      queue = queue.then(() => take(frame)).finally(() => socket.resume());
      queue.catch(() => socket.terminate());
    });
    socket.on('unexpected-response', (_request, response) => {
      const { statusCode: status = 0 } = response;
      const isTemporary = status === 429 || status >= 500;
      const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1000;
      if (!isTemporary) client.refusal(response).then((refusal) => finish({ refusal }), reject);
      else textOf(response).then(() => finish({ refusal: undefined, retryAfterMs }), reject);
    });
    // Its close event follows, except after an unexpected response, which ws then ends itself.
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      finish(code === 1006 && newest === last ? { refusal: undefined } : { code, reason: reason.toString() });
    });
  });
}

/** Splits a frame into messages. */
function parseFrame(frame: string): BuildLogMessage[] {
  // Not validated: the server that sends it defines its type (docs/reference/rest-api.md).
  return frame.split('\n').map((line) => JSON.parse(line) as BuildLogMessage);
}

/** Returns the last lines of a build's log. @throws RequestError with the status 404 if it is not kept */
export async function endOfLog(
  client: Client,
  id: string,
  build: number | undefined,
  lines: number,
): Promise<string[]> {
  const path = `/api/environment/${encodeURIComponent(id)}/build/logs`;
  const response = await client.open('GET', path, { query: { build }, headers: { accept: 'text/plain' } });
  const all = await textOf(response).catch((error: unknown) => {
    throw client.lost(error);
  });
  return lines === 0 ? [] : all.trimEnd().split('\n').slice(-lines);
}

/** Returns the last lines of a build's log; none if it is not kept. */
export async function endOfKeptLog(read: () => Promise<string[]>): Promise<string[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return [];
    throw error;
  }
}
