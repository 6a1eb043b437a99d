import { type Keeping, type LogWriterRedis, runPlan } from './append-script.ts';
import { cutLine } from './cut.ts';
import { buildLogKeys, type LogKeys } from './keys.ts';
import { type LineEnd, type LineMask, maskLines } from './mask.ts';
import { Masks } from './masks.ts';
import { type BuildLogResult, timeSchema } from './message.ts';
import {
  LogLostError,
  type Plan,
  planAppend,
  planEnd,
  type PlannedLine,
  planOnce,
  type SourceLimits,
} from './append-plan.ts';
import { LogState } from './state.ts';

/** A line to write. Without a `time`, or with one that is not RFC 3339, it gets the current time. */
export interface LogLine {
  service: string;
  stage: string;
  line: string;
  time?: string;
}

export interface BuildLogWriterOptions {
  /** Texts that must not appear in the log, such as passwords. */
  secrets?: readonly string[];
  /** Makes the masks of these, for all logs of the process. */
  masks?: Pick<Masks, 'find'>;
  now?: () => Date;
  /** How long the log is kept after its last line, in seconds. */
  retentionSeconds?: number;
  limits?: SourceLimits;
}

const week = 7 * 24 * 3600;
const sourceLimits: SourceLimits = { maxBytes: 8 * 1024 * 1024, maxLines: 400_000, maxLogBytes: 16 * 1024 * 1024 };
/**
 * The rest of Redis's memory is for logins, rate-limit counters and test runs. Notes and the end message may exceed the
 * share.
 */
const linesMemory = { memoryShare: 0.75, maxDropped: 20 };
/** Redis is blocked for a few milliseconds while it carries out one step. */
const linesPerStep = 10_000;
const bytesPerStep = 1024 * 1024;
const maxConflicts = 100;

/**
 * Writes one build's log. There should be one writer, but two at the same time, such as that of an operator that was
 * wrongly considered dead, are harmless: a step is carried out only on the state that it was planned from, and a
 * source's line only once, by its number. A call that throws can be repeated with the same lines. After a LogLostError
 * every call throws it: open another writer, read all sources again, and repeat the notes.
 */
export class BuildLogWriter {
  readonly #redis: LogWriterRedis;
  readonly #keys: LogKeys;
  readonly #mask: () => Promise<LineMask>;
  readonly #now: () => Date;
  readonly #retentionSeconds: number;
  readonly #limits: SourceLimits;
  /** Number of the next line that the caller will pass, by source. */
  readonly #next = new Map<string, number>();
  /** Where a secret that is spread over lines continues: before the line with this number, by source. */
  readonly #goesOn = new Map<string, { line: number; end: LineEnd }>();
  #state: LogState;
  #lost: LogLostError | undefined;
  #lastStep: Promise<unknown> = Promise.resolve();

  private constructor(redis: LogWriterRedis, keys: LogKeys, state: LogState, options: BuildLogWriterOptions) {
    this.#redis = redis;
    this.#keys = keys;
    this.#state = state;
    const { masks = new Masks(), secrets = [] } = options;
    this.#mask = () => masks.find(`log ${keys.stream}`, secrets);
    this.#now = options.now ?? (() => new Date());
    this.#retentionSeconds = options.retentionSeconds ?? week;
    this.#limits = options.limits ?? sourceLimits;
  }

  /** Opens the log with this ID, which need not exist, to continue it. */
  static async open(
    redis: LogWriterRedis,
    logId: string,
    options: BuildLogWriterOptions = {},
  ): Promise<BuildLogWriter> {
    const keys = buildLogKeys(logId);
    return new BuildLogWriter(redis, keys, new LogState(await redis.hGetAll(keys.state)), options);
  }

  /**
   * Returns how many lines of a source are in the log, which must be skipped when the source is read from its start.
   * The next append continues from this number, whatever another writer adds meanwhile.
   */
  linesWritten(source: string): number {
    const next = this.#next.get(source) ?? this.#state.lines(source);
    this.#next.set(source, next);
    return next;
  }

  /**
   * Adds the next lines of a source, from `linesWritten(source)` on, in order. Throws LogsFullError when logs that have
   * not ended use all the memory.
   */
  async append(source: string, lines: readonly LogLine[]): Promise<void> {
    const first = this.linesWritten(source);
    this.#next.set(source, first + lines.length);
    await this.#afterOthers(async () => {
      try {
        let number = first;
        for (const step of steps(await this.#prepareAll(source, first, lines))) {
          const from = number;
          await this.#carryOut((state) => planAppend(state, source, from, step, this.#limits), linesMemory);
          number += step.length;
        }
      } catch (error) {
        this.#next.set(source, first);
        throw error;
      }
    });
  }

  /** Adds a line of the operator's own, once per key, even if several operators call this. */
  async appendOnce(key: string, line: LogLine): Promise<void> {
    const timed = this.#timed(line);
    await this.#afterOthers(async () => {
      const planned = await this.#masked(timed);
      await this.#carryOut((state) => planOnce(state, key, planned));
    });
  }

  /** Adds the end message, unless there is one. Lines added after it are dropped. */
  async end(result: BuildLogResult, message: string): Promise<void> {
    const timed = this.#timed({ service: '', stage: '', line: message });
    await this.#afterOthers(async () => {
      const { time, line } = await this.#masked(timed);
      await this.#carryOut((state) => planEnd(state, time, result, line));
    });
  }

  /** Returns lines as they are stored. */
  async #prepareAll(source: string, first: number, lines: readonly LogLine[]): Promise<PlannedLine[]> {
    const timed = lines.map((line) => this.#timed(line));
    // Lines that are only counted need no masking.
    if (this.#state.isCut(source)) return timed.map((line) => ({ ...line, line: '' }));
    const mask = await this.#mask();
    const before = this.#goesOn.get(source);
    let end = before?.line === first ? before.end : undefined;
    const prepared = timed.map((line) => {
      const masked = mask(line.line, end);
      end = masked.end;
      return { ...line, line: cutLine(masked.line) };
    });
    if (end) this.#goesOn.set(source, { line: first + lines.length, end });
    return prepared;
  }

  async #masked(line: PlannedLine): Promise<PlannedLine> {
    return { ...line, line: cutLine(maskLines(await this.#mask(), line.line)) };
  }

  /** Returns a line with the current time, unless it has one. */
  #timed({ service, stage, line, time }: LogLine): PlannedLine {
    const known = time !== undefined && timeSchema.safeParse(time).success;
    return { time: known ? time : this.#now().toISOString(), service, stage, line };
  }

  /** Runs steps sequentially: each is planned from the state that the previous one left. */
  #afterOthers(work: () => Promise<void>): Promise<void> {
    const done = this.#lastStep.then(work);
    // The caller gets the error; the next step only waits.
    this.#lastStep = done.catch(() => undefined);
    return done;
  }

  async #carryOut(makePlan: (state: LogState) => Plan, memory: Partial<Keeping> = {}): Promise<void> {
    const keeping = { retentionSeconds: this.#retentionSeconds, ...memory };
    for (let conflicts = 0; conflicts < maxConflicts; conflicts++) {
      if (this.#lost) throw this.#lost;
      const plan = makePlan(this.#state);
      if (plan.change.length === 0) return;
      if (await runPlan(this.#redis, this.#keys, this.#state, plan, keeping)) return;
      const { version } = this.#state;
      this.#state = new LogState(await this.#redis.hGetAll(this.#keys.state));
      // Versions only increase, so this one belongs to a log that was started again.
      if (this.#state.version < version) this.#lost = new LogLostError(`Redis has lost lines of ${this.#keys.stream}`);
    }
    throw new Error(
      `another process keeps writing to the build log ${this.#keys.stream}. Check that only one operator leads`,
    );
  }
}

/** Splits lines into groups that Redis processes in one step. */
function* steps(lines: readonly PlannedLine[]): Generator<PlannedLine[]> {
  let step: PlannedLine[] = [];
  let length = 0;
  for (const line of lines) {
    step.push(line);
    length += line.line.length;
    if (step.length === linesPerStep || length >= bytesPerStep) {
      yield step;
      step = [];
      length = 0;
    }
  }
  if (step.length > 0) yield step;
}
