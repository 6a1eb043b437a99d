import { deadline } from '../api/client.ts';
import { endOfKeptLog } from '../api/log.ts';
import type { BuildView, ListedEnvironment } from '../api/types.ts';
import { CliError } from '../errors.ts';
import { note } from '../io.ts';
import { buildName } from '../output/build-name.ts';
import { startProgress } from '../output/progress.ts';
import type { Session } from '../session.ts';
import { stageText } from './stage-text.ts';

/** Long, because a build can wait in the queue. */
const defaultSeconds = 30 * 60;
const shownLogLines = 40;

/**
 * Waits until an environment reaches a state, and shows its stage meanwhile.
 * @param judge returns the result when the wait is over, and throws if it cannot end
 * @throws CliError with exit code 8 when the timeout has passed
 */
export async function waitFor<T>(
  session: Session,
  id: string,
  judge: (now: ListedEnvironment | 'deleted') => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const { installation, io, given } = session;
  const timeout = deadline(given.seconds('timeout') ?? defaultSeconds, `${id} has not reached the requested state`);
  const ended = new AbortController();
  const signal = AbortSignal.any([timeout.signal, ended.signal]);
  const progress = startProgress(io);
  try {
    for await (const { now } of installation.changes({ id }, signal)) {
      const result = await judge(now);
      if (result !== undefined) return result;
      if (now !== 'deleted') progress.show(stageText(now));
    }
    throw timeout.error();
  } catch (error) {
    if (timeout.signal.aborted && !(error instanceof CliError)) throw timeout.error();
    throw error;
  } finally {
    ended.abort();
    progress.stop();
  }
}

/**
 * Waits until the build of a request has succeeded; otherwise shows the end of its log.
 * @throws CliError if it ends in another way
 */
export async function waitForBuild(session: Session, id: string, request: string | undefined): Promise<BuildView> {
  const { installation, io } = session;
  const build = await waitFor(session, id, async (now) => {
    if (now === 'deleted') throw new CliError(`${id} was deleted`);
    const found = await installation.build(id, request);
    if (found.result !== 'pending' && found.result !== 'running') return found;
    if (found.result === 'pending' && now.health === 'failed') throw failed(now);
    return undefined;
  });
  if (build.result === 'succeeded') return build;
  if (build.result === 'failed') {
    const lines = await endOfKeptLog(() => installation.endOfBuildLog(id, build.number, shownLogLines));
    // The last line is the message of the error below, without its line breaks.
    for (const line of lines.filter((text) => !text.startsWith('-- build failed: '))) note(io, line);
  }
  const why = build.message === undefined ? '' : `: ${build.message}`;
  throw new CliError(`${buildName(build.number)} of ${id} ${outcomes[build.result]}${why}`);
}

const outcomes: Readonly<Record<BuildView['result'], string>> = {
  pending: 'is pending',
  running: 'is running',
  succeeded: 'succeeded',
  failed: 'failed',
  superseded: 'was superseded by a newer one',
  cancelled: 'was cancelled',
};

/** The values of `env wait --for`. */
export const WAITED_FOR = ['built', 'healthy', 'empty', 'deleted'] as const;
export type WaitedFor = (typeof WAITED_FOR)[number];

/** Waits for a state. Returns undefined if the environment is deleted. @throws CliError if it cannot be reached */
export async function waitForState(
  session: Session,
  id: string,
  state: WaitedFor,
): Promise<ListedEnvironment | undefined> {
  const result = await waitFor(session, id, (now) => {
    if (now === 'deleted') {
      if (state === 'deleted' || state === 'empty') return { now: undefined };
      throw new CliError(`${id} was deleted`);
    }
    if (isReached(now, state)) return { now };
    if (now.health === 'failed' && (state === 'built' || state === 'healthy')) throw failed(now);
    return undefined;
  });
  return result.now;
}

function isReached({ status, health }: ListedEnvironment, state: WaitedFor): boolean {
  if (state === 'deleted') return false;
  return state === 'healthy' ? health === 'healthy' : status === state;
}

function failed({ id, problem, status }: ListedEnvironment): CliError {
  return new CliError(`${id} is ${status}${problem ? `: ${problem.reason}: ${problem.message}` : ' and has failed'}`);
}
