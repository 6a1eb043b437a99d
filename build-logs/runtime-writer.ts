import { type LogWriterRedis, runPlan } from './append-script.ts';
import { cutLine } from './cut.ts';
import { runtimeLogKeys } from './keys.ts';
import type { PlannedLine } from './append-plan.ts';
import { LogState } from './state.ts';

/** The last line of a source that is in the log: its time, and how many lines of that time there are. */
export interface SourcePosition {
  time: string;
  count: number;
}

/** Redis's state is another one than this writer left: another writes, or it was lost. Open a new one, and go on there. */
export class RuntimeLogTakenError extends Error {
  override readonly name = 'RuntimeLogTakenError';
}

export interface RuntimeLine extends PlannedLine {
  pod: string;
}

export interface RuntimeLogWriterRedis extends LogWriterRedis {
  expire(key: string, seconds: number): Promise<unknown>;
  set(key: string, value: string, options: { expiration: { type: 'EX'; value: number } }): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

const MAX_LINE_BYTES = 4 * 1024;
/** What each line takes beside its text, about. */
const LINE_OVERHEAD = 100;
/** Size of the longest message, about. */
export const MAX_RUNTIME_MESSAGE_BYTES = MAX_LINE_BYTES + LINE_OVERHEAD;
/** Maximum size of a running service's log. */
export const MAX_RUNTIME_LOG_BYTES = 2 * 1024 * 1024;
const RETENTION_SECONDS = 300;
const LOADED_SECONDS = 20;
/** Less than builds' logs have: pods still have these lines. */
const MEMORY_SHARE = 0.7;

/**
 * Writes a running service's log while somebody reads it: its last 2 MiB are kept, and all of it goes 5 minutes after
 * the last touch(). Seqs start at the time in hundredths of milliseconds, so that a log that was dropped and started
 * anew goes on with higher ones, and a reader's `from` keeps its meaning.
 */
export class RuntimeLogWriter {
  readonly #redis: RuntimeLogWriterRedis;
  readonly #keys: ReturnType<typeof runtimeLogKeys>;
  readonly #state: LogState;
  /** What this writer has added: the last seq and the size of each step. */
  readonly #steps: { last: number; bytes: number }[] = [];
  #bytes = 0;
  #lastStep: Promise<unknown> = Promise.resolve();

  private constructor(redis: RuntimeLogWriterRedis, keys: ReturnType<typeof runtimeLogKeys>, state: LogState) {
    this.#redis = redis;
    this.#keys = keys;
    this.#state = state;
  }

  static async open(
    redis: RuntimeLogWriterRedis,
    { uid, service }: { uid: string; service: string },
    now: Date,
  ): Promise<RuntimeLogWriter> {
    const keys = runtimeLogKeys(uid, service);
    const fields = { seq: String(now.getTime() * 100), ...(await redis.hGetAll(keys.state)) };
    return new RuntimeLogWriter(redis, keys, new LogState(fields));
  }

  position(source: string): SourcePosition | undefined {
    const [time, count] = this.#state.at(source)?.split(' ') ?? [];
    return time === undefined ? undefined : { time, count: Number(count) };
  }

  /** Adds lines of a source, and where it is after them. Throws RuntimeLogTakenError. */
  append(source: string, lines: readonly RuntimeLine[], position: SourcePosition | undefined): Promise<void> {
    const done = this.#lastStep.then(() => this.#append(source, lines, position));
    this.#lastStep = done.catch(() => undefined);
    return done;
  }

  /** Keeps the log for a while; `isLoaded` informs readers that earlier lines are complete. */
  async touch(isLoaded: boolean): Promise<void> {
    const { stream, state, loaded } = this.#keys;
    for (const key of [stream, state]) await this.#redis.expire(key, RETENTION_SECONDS);
    if (isLoaded) await this.#redis.set(loaded, '1', { expiration: { type: 'EX', value: LOADED_SECONDS } });
  }

  /** Nobody follows any more. */
  async close(): Promise<void> {
    await this.#redis.del(this.#keys.loaded);
  }

  async #append(source: string, lines: readonly RuntimeLine[], position?: SourcePosition): Promise<void> {
    if (lines.length === 0) return;
    const messages = lines.map((line) => ({ ...line, line: cutLine(line.line, MAX_LINE_BYTES) }));
    const bytes = messages.reduce((sum, { line }) => sum + Buffer.byteLength(line) + LINE_OVERHEAD, 0);
    const change = position ? [[`at:${source}`, `${position.time} ${position.count}`] as const] : [];
    this.#steps.push({ last: this.#state.seq + messages.length, bytes });
    this.#bytes += bytes;
    let firstKept = 0;
    while (this.#bytes > MAX_RUNTIME_LOG_BYTES && this.#steps.length > 1) {
      const { last, bytes: dropped } = this.#steps.shift() ?? { last: 0, bytes: 0 };
      firstKept = last + 1;
      this.#bytes -= dropped;
    }
    const plan = { messages, change };
    const keeping = { retentionSeconds: RETENTION_SECONDS, firstKept, memoryShare: MEMORY_SHARE };
    if (!(await runPlan(this.#redis, this.#keys, this.#state, plan, keeping))) {
      throw new RuntimeLogTakenError(`${this.#keys.stream} is not as this writer left it`);
    }
  }
}
