import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness } from '../end-to-end/harness.ts';
import type { EnvironmentWatch } from './environment-watch.ts';

export interface GroupWorkOptions {
  harness: Harness;
  watch: EnvironmentWatch;
  repository: string;
  /** When the first round starts, so that groups do not start at once. */
  firstAfterMs: number;
  /** From the start of a round to the start of the next. */
  roundMs: number;
  /** `performance.now()` from which durations are recorded. */
  countsFrom: number;
}

/** What one or more groups have experienced; durations in milliseconds. */
export interface WorkTimes {
  created: number[];
  built: number[];
  reads: number[];
  rounds: number;
  /** Why rounds or reads failed. */
  failures: unknown[];
}

/** The work of one group. */
export interface GroupWork {
  /** Ends the work after the current round. */
  stop(): Promise<WorkTimes>;
}

const readEveryMs = 500;
const waitSeconds = 120;

/** Spawns, follows the build's log, rebuilds and deletes again and again, and reads meanwhile as a panel does. */
export function startGroupWork(options: GroupWorkOptions): GroupWork {
  const { harness, firstAfterMs, roundMs, countsFrom } = options;
  const times: WorkTimes = { created: [], built: [], reads: [], rounds: 0, failures: [] };
  const stopping = new AbortController();
  const { signal } = stopping;
  const until = (end: number) => sleep(Math.max(0, end - performance.now()), undefined, { signal }).catch(stopped);
  const current: { id?: string } = {};
  const work = async () => {
    await until(performance.now() + firstAfterMs);
    for (let start = performance.now(); !signal.aborted; start = performance.now()) {
      try {
        await round(options, current, times);
        times.rounds++;
      } catch (error) {
        times.failures.push(error);
      }
      await until(start + roundMs);
    }
  };
  const read = async () => {
    const paths = [`/api/group/${harness.group}`, `/api/repository/${options.repository}`, '/api/overview'];
    for (let index = 0; !signal.aborted; index++) {
      const environment = current.id === undefined ? [] : [`/api/environment/${current.id}`];
      const all = [...paths, ...environment];
      const start = performance.now();
      try {
        const { status } = await harness.client.send('GET', all[index % all.length] ?? '');
        if (status !== 200) throw new Error(`GET: ${status}`);
      } catch (error) {
        times.failures.push(error);
      }
      if (start >= countsFrom) times.reads.push(performance.now() - start);
      await until(start + readEveryMs);
    }
  };
  const all = Promise.all([work(), read()]);
  return {
    async stop() {
      stopping.abort();
      await all;
      return times;
    },
  };
}

async function round(
  { harness, watch, repository, countsFrom }: GroupWorkOptions,
  current: { id?: string },
  times: WorkTimes,
): Promise<void> {
  const { client } = harness;
  const start = performance.now();
  const since = () => performance.now() - start;
  const id = await harness.spawn(repository, 'main');
  current.id = id;
  // A wait that times out counts as long as it took.
  const timed = (durations: number[], wait: Promise<void>) =>
    wait.finally(() => {
      if (start >= countsFrom) durations.push(since());
    });
  await Promise.all([
    timed(
      times.created,
      watch.whenState(id, (state) => state !== undefined && state !== 'empty', waitSeconds),
    ),
    timed(times.built, watch.buildEnded(id, 1, waitSeconds)),
    readLog(harness, id),
  ]);
  const send = async (method: string, path: string) => {
    const { status, text } = await client.send(method, path);
    if (status !== 202) throw new Error(`${method} ${path}: ${status} ${text}`);
  };
  await send('POST', `/api/environment/${id}/rebuild`);
  await watch.buildEnded(id, 2, waitSeconds);
  delete current.id;
  await send('DELETE', `/api/environment/${id}`);
  // The first one of a branch is kept, the others are deleted.
  await watch.whenState(id, (state) => state === undefined || state === 'empty', waitSeconds);
}

async function readLog({ client }: Harness, id: string): Promise<void> {
  let hasEnded = false;
  for await (const message of client.log(id)) hasEnded = 'end' in message;
  if (!hasEnded) throw new Error(`the build log of ${id} has no end`);
}

function stopped(error: Error): void {
  if (error.name !== 'AbortError') throw error;
}
