import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as afterOtherEvents } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { stripControls } from '../../build-logs/controls.ts';
import { buildLogKeys } from '../../build-logs/keys.ts';
import { decodeMessages, type BuildLogMessage } from '../../build-logs/message.ts';
import type { LogPage } from '../../build-logs/page.ts';
import type { LogReader } from '../../build-logs/reader.ts';
import type { Environment } from '../../crds/environment.ts';
import type { BuildStatus } from '../../crds/environment-build.ts';
import { currentBuildView, numberedBuild } from './build-view.ts';
import { NotFound, orUnavailable } from '../shared/errors.ts';
import { LOG_UNREADABLE, NO_BUILD_YET } from '../shared/messages.ts';
import { holdAnswer } from '../limits/held-memory.ts';

/** A reader that reads nothing for this time is disconnected. */
export const MAX_SILENCE_MS = 60_000;
/** Kernels buffer about as much for a reader that reads nothing (Linux, tcp_wmem). */
const unreadBytes = 4 * 1024 * 1024;

export interface LogTextRequest {
  environment: Environment;
  /** Defaults to the running, requested or last build. */
  build?: number | undefined;
  /** Sequence number of the last message that the reader has. */
  from?: number | undefined;
}

/**
 * Responds with the existing lines of a build's log as text, at the caller's pace. Commit statuses link here, so that a
 * browser can show it.
 * @throws NotFound if no build has been requested, or its log is no longer kept
 * @throws Unavailable while the logs cannot be read
 * @throws TooManyRequests, Unavailable while answers that were not read hold too much memory
 */
export async function answerLogText(
  request: Request,
  response: Response,
  { environment, build, from }: LogTextRequest,
  reader: Pick<LogReader, 'readKept'>,
): Promise<void> {
  const newest = environment.status?.build;
  const number = build ?? currentBuildView(environment)?.number;
  if (number === undefined) throw new NotFound(NO_BUILD_YET);
  const missing = missingEnd(newest, number);

  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const keys = buildLogKeys(`${environment.metadata.uid ?? ''}/${number}`);
  const pages = reader.readKept(keys, { from, signal: closed.signal });
  const first = await orUnavailable(pages.next(), LOG_UNREADABLE);
  if (first.done === true && missing === undefined && (from ?? 0) === 0) {
    throw new NotFound(`the log of build ${number} is no longer kept. GET …/builds lists the builds`);
  }
  const commit = numberedBuild(environment, number)?.commit;
  response.set({ 'X-Build-Number': String(number), ...(commit !== undefined && { 'X-Build-Commit': commit }) });
  response.type('text/plain');
  if (request.method === 'HEAD') {
    await pages.return(undefined);
    response.end();
    return;
  }
  // Reading a second page distinguishes a short log, which takes little memory, from one that fills the kernel's
  // buffers.
  const second = first.done === true ? first : await orUnavailable(pages.next(), LOG_UNREADABLE);
  const bytes = first.done === true ? 0 : first.value.bytes.length;
  holdAnswer(request, response, second.done === true ? bytes : unreadBytes);
  response.setTimeout(MAX_SILENCE_MS);
  // Node's pipeline adds several listeners to those of the API, together more than Node considers normal.
  response.setMaxListeners(20);
  try {
    await pipeline(Readable.from(textOf([first, second], pages, missing), { objectMode: false }), response);
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  }
}

/** Returns why the log is not complete; undefined if the build has ended. */
function missingEnd(newest: BuildStatus | undefined, number: number): string | undefined {
  if (number > (newest?.number ?? 0)) return `build ${number} has not started`;
  return newest?.number === number && newest.finishedAt === undefined ? 'the build is running' : undefined;
}

async function* textOf(
  read: readonly IteratorResult<LogPage>[],
  rest: AsyncGenerator<LogPage>,
  missing: string | undefined,
): AsyncGenerator<string> {
  let hasEnded = false;
  try {
    for await (const page of joined(read, rest)) {
      hasEnded = page.isEnd;
      for (const frame of page.frames()) {
        yield decodeMessages(frame.toString('utf8')).map(lineOf).join('');
        // While the kernel accepts the data immediately, no other request would run without this pause.
        await afterOtherEvents();
      }
    }
  } finally {
    await rest.return(undefined);
  }
  if (missing !== undefined && !hasEnded) yield `-- ${missing}: reload for more\n`;
}

async function* joined(
  read: readonly IteratorResult<LogPage>[],
  rest: AsyncGenerator<LogPage>,
): AsyncGenerator<LogPage> {
  for (const next of read) if (next.done !== true) yield next.value;
  yield* rest;
}

/** Returns one line of text without terminal control sequences. */
function lineOf(message: BuildLogMessage): string {
  if ('end' in message) return `-- build ${message.end.result}: ${plain(message.end.message)}\n`;
  const { service, stage, line } = message;
  return `[${[service, stage].filter((part) => part !== '').join(' ')}] ${plain(line)}\n`;
}

function plain(text: string): string {
  return stripControls(text.replace(/[\r\n\v\f]/g, ' '));
}
