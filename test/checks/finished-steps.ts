import { existsSync, readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { Problem } from '../support/problem.ts';
import { writeWhole } from '../support/write-whole.ts';
import type { SuiteResult } from './jest-results.ts';
import type { Outcome } from './outcome.ts';

/** What a finished step of a full run contributes to its results. */
export interface FinishedStep {
  outcome: Outcome;
  /** Passed suites of jest. */
  suites: readonly SuiteResult[];
  /** Suites of jest that run again, alone, at the end of the run. */
  failedSuites: readonly SuiteResult[];
}

const suitesSchema = z.array(z.object({ suite: z.string(), passed: z.int(), failed: z.int(), seconds: z.number() }));
const stepSchema: z.ZodType<FinishedStep> = z.object({
  outcome: z.object({ passed: z.int(), failed: z.int(), notRun: z.array(z.string()).exactOptional() }),
  suites: suitesSchema,
  failedSuites: suitesSchema,
});
const fileSchema = z.object({
  commit: z.string(),
  /** When the first process of the run started. */
  started: z.iso.datetime(),
  /** How long each process of the run has worked, in milliseconds. */
  workedMs: z.array(z.number()),
  steps: z.record(z.string(), stepSchema),
});

/**
 * The finished steps of one commit's full run, in a file, so that a run that was interrupted continues. A run takes
 * hours.
 */
export class FinishedSteps {
  readonly #path: string;
  readonly #file: z.infer<typeof fileSchema>;
  readonly #processStarted: Date;

  private constructor(path: string, file: z.infer<typeof fileSchema>, processStarted: Date) {
    this.#path = path;
    this.#file = file;
    this.#processStarted = processStarted;
  }

  /** Starts a run, and deletes the steps of the previous one. */
  static start(path: string, commit: string, now: Date): FinishedSteps {
    rmSync(path, { force: true });
    return new FinishedSteps(path, { commit, started: now.toISOString(), workedMs: [0], steps: {} }, now);
  }

  /** Continues the last run. Throws a Problem if there is none of this commit. */
  static continue(path: string, commit: string, now: Date): FinishedSteps {
    if (!existsSync(path)) throw new Problem('There is no interrupted run to continue. Run without --continue.');
    const file = fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    if (file.commit !== commit) {
      throw new Problem(`The interrupted run is of ${file.commit}. Check that out, or run without --continue.`);
    }
    return new FinishedSteps(path, { ...file, workedMs: [...file.workedMs, 0] }, now);
  }

  get started(): Date {
    return new Date(this.#file.started);
  }

  /** How many processes the run has had. */
  get processes(): number {
    return this.#file.workedMs.length;
  }

  /** Returns how many milliseconds the processes of the run have worked; an interrupted one counts until its last step. */
  workedMs(now: Date): number {
    return this.#workedUntil(now).reduce((total, ms) => total + ms, 0);
  }

  /** Returns undefined for a step that must run. */
  find(name: string): FinishedStep | undefined {
    return this.#file.steps[name];
  }

  /** Stores a step unless it failed: then it must run again. Its failed suites have a second attempt in any case. */
  add(name: string, step: FinishedStep, now: Date): void {
    if (step.outcome.failed > 0) return;
    this.#file.steps[name] = step;
    this.#file.workedMs = this.#workedUntil(now);
    writeWhole(this.#path, JSON.stringify(this.#file));
  }

  /** Ends the run: nothing of it can be continued. */
  remove(): void {
    rmSync(this.#path, { force: true });
  }

  #workedUntil(now: Date): number[] {
    return [...this.#file.workedMs.slice(0, -1), now.getTime() - this.#processStarted.getTime()];
  }
}
