import { type Keeping, type LogWriterRedis, runPlan } from './append-script.ts';
import { cutLine } from './cut.ts';
import { buildLogKeys, type LogKeys } from './keys.ts';
import { createLineMask, type LineEnd, type LineMask, maskLines } from './mask.ts';
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

/** A line to be written. Without a `time`, or with one that is not RFC 3339, it gets the time of writing. */
export interface LogLine {
  service: string;
  stage: string;
  line: string;
  time?: string;
}

export interface BuildLogWriterOptions {
  /** What must not be seen in the log, such as passwords. */
  secrets?: readonly string[];
  now?: () => Date;
  /** How long the log is kept after its last line. */
  retentionSeconds?: number;
  limits?: SourceLimits;
}

const WEEK = 7 * 24 * 3600;
const LIMITS: SourceLimits = { maxBytes: 8 * 1024 * 1024, maxLines: 400_000, maxLogBytes: 16 * 1024 * 1024 };
/** The rest of Redis's memory is for logins, rate-limit counters and test runs. Notes and the end message may exceed it. */
const LINES_MEMORY = { memoryShare: 0.75, maxDropped: 20 };
/** Redis does nothing else while it carries out one step, of some milliseconds. */
const LINES_PER_STEP = 10_000;
const BYTES_PER_STEP = 1024 * 1024;
const MAX_CONFLICTS = 100;

/**
 * Writes one build's log. One writer is the rule; two of them for a moment (an operator that was thought dead) do no
 * harm: every step is carried out only on the state that it was planned from, and a source's line only once, by its
 * number. Whatever throws may be called again with the same lines; but after a LogLostError every call throws it: open
 * another writer then, read all sources again, and note again what was noted.
 */
export class BuildLogWriter {
  readonly #redis: LogWriterRedis;
  readonly #keys: LogKeys;
  readonly #mask: LineMask;
  readonly #now: () => Date;
  readonly #retentionSeconds: number;
  readonly #limits: SourceLimits;
  /** The number of the next line that the caller will hand over, by source. */
  readonly #next = new Map<string, number>();
  /** Where a secret that is broken into lines goes on: before the line of this number, by source. */
  readonly #goesOn = new Map<string, { line: number; end: LineEnd }>();
  #state: LogState;
  #lost: LogLostError | undefined;
  #lastStep: Promise<unknown> = Promise.resolve();

  private constructor(redis: LogWriterRedis, keys: LogKeys, state: LogState, options: BuildLogWriterOptions) {
    this.#redis = redis;
    this.#keys = keys;
    this.#state = state;
    this.#mask = createLineMask(options.secrets ?? []);
    this.#now = options.now ?? (() => new Date());
    this.#retentionSeconds = options.retentionSeconds ?? WEEK;
    this.#limits = options.limits ?? LIMITS;
  }

  /** Goes on where the log with this id is; it need not exist. */
  static async open(
    redis: LogWriterRedis,
    logId: string,
    options: BuildLogWriterOptions = {},
  ): Promise<BuildLogWriter> {
    const keys = buildLogKeys(logId);
    return new BuildLogWriter(redis, keys, new LogState(await redis.hGetAll(keys.state)), options);
  }

  /**
   * How many lines of a source are in the log: so many are to be skipped when the source is read from its beginning.
   * The next append goes on from this answer, whatever another writer adds in between.
   */
  linesWritten(source: string): number {
    const next = this.#next.get(source) ?? this.#state.lines(source);
    this.#next.set(source, next);
    return next;
  }

  /**
   * Adds the next lines of a source, from `linesWritten(source)` on, in order. Throws LogsFullError where Redis's memory is
   * full of logs that have not ended.
   */
  async append(source: string, lines: readonly LogLine[]): Promise<void> {
    const first = this.linesWritten(source);
    this.#next.set(source, first + lines.length);
    await this.#afterOthers(async () => {
      try {
        let number = first;
        for (const step of steps(this.#prepareAll(source, first, lines))) {
          const from = number;
          await this.#carryOut((state) => planAppend(state, source, from, step, this.#limits), LINES_MEMORY);
          number += step.length;
        }
      } catch (error) {
        this.#next.set(source, first);
        throw error;
      }
    });
  }

  /** Adds a line of the operator's own, once for each key, whichever operator comes first. */
  async appendOnce(key: string, line: LogLine): Promise<void> {
    const prepared = this.#prepare(line);
    await this.#afterOthers(() => this.#carryOut((state) => planOnce(state, key, prepared)));
  }

  /** Adds the end message, unless there is one. What is appended afterwards is dropped. */
  async end(result: BuildLogResult, message: string): Promise<void> {
    const { time, line } = this.#prepare({ service: '', stage: '', line: message });
    await this.#afterOthers(() => this.#carryOut((state) => planEnd(state, time, result, line)));
  }

  #prepareAll(source: string, first: number, lines: readonly LogLine[]): PlannedLine[] {
    // What is only counted need not be masked.
    if (this.#state.isCut(source)) return lines.map((line) => this.#planned({ ...line, line: '' }));
    const before = this.#goesOn.get(source);
    let end = before?.line === first ? before.end : undefined;
    const prepared = lines.map((line) => {
      const masked = this.#mask(line.line, end);
      end = masked.end;
      return this.#planned({ ...line, line: masked.line });
    });
    if (end) this.#goesOn.set(source, { line: first + lines.length, end });
    return prepared;
  }

  #prepare(line: LogLine): PlannedLine {
    return this.#planned({ ...line, line: maskLines(this.#mask, line.line) });
  }

  /** A masked line as it is stored. */
  #planned({ service, stage, line, time }: LogLine): PlannedLine {
    const known = time !== undefined && timeSchema.safeParse(time).success;
    return { time: known ? time : this.#now().toISOString(), service, stage, line: cutLine(line) };
  }

  /** One step after the other: each is planned from the state that the one before it left. */
  #afterOthers(work: () => Promise<void>): Promise<void> {
    const done = this.#lastStep.then(work);
    // The caller gets the error; who comes next only waits.
    this.#lastStep = done.catch(() => undefined);
    return done;
  }

  async #carryOut(makePlan: (state: LogState) => Plan, memory: Partial<Keeping> = {}): Promise<void> {
    const keeping = { retentionSeconds: this.#retentionSeconds, ...memory };
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      if (this.#lost) throw this.#lost;
      const plan = makePlan(this.#state);
      if (plan.change.length === 0) return;
      if (await runPlan(this.#redis, this.#keys, this.#state, plan, keeping)) return;
      const { version } = this.#state;
      this.#state = new LogState(await this.#redis.hGetAll(this.#keys.state));
      // Versions only grow: this one is of a log that was started anew.
      if (this.#state.version < version) this.#lost = new LogLostError(`Redis has lost lines of ${this.#keys.stream}`);
    }
    throw new Error(`${this.#keys.stream}: another process keeps writing to this build log`);
  }
}

/** Lines in groups that Redis takes in one go. */
function* steps(lines: readonly PlannedLine[]): Generator<PlannedLine[]> {
  let step: PlannedLine[] = [];
  let length = 0;
  for (const line of lines) {
    step.push(line);
    length += line.line.length;
    if (step.length === LINES_PER_STEP || length >= BYTES_PER_STEP) {
      yield step;
      step = [];
      length = 0;
    }
  }
  if (step.length > 0) yield step;
}
