import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { stripControls } from '../../build-logs/controls.ts';
import { buildLogKeys } from '../../build-logs/keys.ts';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import type { LogPage } from '../../build-logs/page.ts';
import type { LogReader } from '../../build-logs/reader.ts';
import type { Environment } from '../../crds/environment.ts';
import { numberedBuild } from './build-view.ts';
import { NotFound, orUnavailable } from '../http/errors.ts';

/** A reader that takes nothing for so long is cut. */
const longestSilenceMs = 60_000;

export interface LogTextWish {
  environment: Environment;
  /** Absent: the running or last build. */
  build?: number | undefined;
  /** The seq of the last message that the reader has. */
  from?: number | undefined;
}

/**
 * Answers with what there is of a build's log now, as text: where commit statuses lead, so that a browser can open it.
 * Sent no faster than the caller takes it.
 * @throws NotFound where no build has begun, or nothing of its log is kept
 * @throws Unavailable while the logs cannot be read
 */
export async function answerLogText(
  request: Request,
  response: Response,
  { environment, build, from }: LogTextWish,
  reader: Pick<LogReader, 'readKept'>,
): Promise<void> {
  const newest = environment.status?.build;
  const number = build ?? newest?.number;
  if (number === undefined) throw new NotFound('no build has begun yet');
  const isRunning = newest?.number === number && newest.finishedAt === undefined;

  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const keys = buildLogKeys(`${environment.metadata.uid ?? ''}/${number}`);
  const pages = reader.readKept(keys, { from, signal: closed.signal });
  const first = await orUnavailable(pages.next(), 'the log cannot be read now; try again');
  if (first.done === true && !isRunning && (from ?? 0) === 0) {
    throw new NotFound(`the log of build ${number} is not kept any more`);
  }
  const commit = numberedBuild(environment, number)?.commit;
  response.set({ 'X-Build-Number': String(number), ...(commit !== undefined && { 'X-Build-Commit': commit }) });
  response.type('text/plain');
  if (request.method === 'HEAD') {
    await pages.return(undefined);
    response.end();
    return;
  }
  response.setTimeout(longestSilenceMs);
  try {
    await pipeline(Readable.from(textOf(first, pages, isRunning), { objectMode: false }), response);
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  }
}

async function* textOf(
  first: IteratorResult<LogPage>,
  rest: AsyncGenerator<LogPage>,
  isRunning: boolean,
): AsyncGenerator<string> {
  let hasEnded = false;
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      hasEnded = next.value.isEnd;
      yield next.value.messages().map(lineOf).join('');
    }
  } finally {
    await rest.return(undefined);
  }
  if (isRunning && !hasEnded) yield '-- the build is under way: load this again for more\n';
}

/** One line of text, without what could steer a terminal. */
function lineOf(message: BuildLogMessage): string {
  if ('end' in message) return `-- build ${message.end.result}: ${plain(message.end.message)}\n`;
  const { service, stage, line } = message;
  return `[${[service, stage].filter((part) => part !== '').join(' ')}] ${plain(line)}\n`;
}

function plain(text: string): string {
  return stripControls(text.replace(/[\r\n\v\f]/g, ' '));
}
