import { type LogWriterRedis, runPlan } from './append-script.ts';
import { cutLine } from './cut.ts';
import { runtimeLogKeys } from './keys.ts';
import type { PlannedLine } from './append-plan.ts';
import { LogState } from './state.ts';

/** Position of a source's last stored line: its time, and the number of lines with that time. */
export interface SourcePosition {
  time: string;
  count: number;
}

/**
 * Redis's state differs from what this writer left: another writer is active, or the state was lost. Open a new writer,
 * and continue there.
 */
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

const maxLineBytes = 4 * 1024;
/** Approximate size of each line in addition to its text, in bytes. */
const lineOverhead = 100;
/** Approximate maximum size of a message, in bytes. */
export const MAX_RUNTIME_MESSAGE_BYTES = maxLineBytes + lineOverhead;
/** Maximum size of a running service's log, in bytes. */
export const MAX_RUNTIME_LOG_BYTES = 2 * 1024 * 1024;
const runtimeRetentionSeconds = 300;
const loadedSeconds = 20;
/** Lower than for logs of builds, because pods still have these lines. */
const runtimeMemoryShare = 0.7;

/**
 * Writes a running service's log while somebody reads it. The last 2 MiB are kept, and everything expires 5 minutes
 * after the last touch(). Seqs start at the current time in hundredths of milliseconds, so that a log that was dropped
 * and started again continues with higher ones, and a reader's `from` remains valid.
 */
export class RuntimeLogWriter {
  readonly #redis: RuntimeLogWriterRedis;
  readonly #keys: ReturnType<typeof runtimeLogKeys>;
  readonly #state: LogState;
  /** The last seq and the size of each step that this writer has added. */
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

  /** Adds lines of a source, and its position after them. Throws RuntimeLogTakenError. */
  append(source: string, lines: readonly RuntimeLine[], position: SourcePosition | undefined): Promise<void> {
    const done = this.#lastStep.then(() => this.#append(source, lines, position));
    this.#lastStep = done.catch(() => undefined);
    return done;
  }

  /** Extends the log's expiry; `isLoaded` informs readers that earlier lines are complete. */
  async touch(isLoaded: boolean): Promise<void> {
    const { stream, state, loaded } = this.#keys;
    for (const key of [stream, state]) await this.#redis.expire(key, runtimeRetentionSeconds);
    if (isLoaded) await this.#redis.set(loaded, '1', { expiration: { type: 'EX', value: loadedSeconds } });
  }

  /** Removes the log's marker, because it is no longer followed. */
  async close(): Promise<void> {
    await this.#redis.del(this.#keys.loaded);
  }

  async #append(source: string, lines: readonly RuntimeLine[], position?: SourcePosition): Promise<void> {
    if (lines.length === 0) return;
    const messages = lines.map((line) => ({ ...line, line: cutLine(line.line, maxLineBytes) }));
    const bytes = messages.reduce((sum, { line }) => sum + Buffer.byteLength(line) + lineOverhead, 0);
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
    const keeping = { retentionSeconds: runtimeRetentionSeconds, firstKept, memoryShare: runtimeMemoryShare };
    if (!(await runPlan(this.#redis, this.#keys, this.#state, plan, keeping))) {
      throw new RuntimeLogTakenError(`${this.#keys.stream} was changed by another writer, or lost`);
    }
  }
}
