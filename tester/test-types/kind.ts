import type { z } from 'zod';
import type { Item } from './items.ts';

/** What a test is reported besides its params. */
export interface RunContext {
  /** Aborted at the run's deadline, and when the tester stops. */
  signal: AbortSignal;
  /**
   * A while before the deadline, in monotonic milliseconds: a test that has found something ends by then and reports
   * it.
   */
  endBy: number;
}

export interface Outcome {
  /** Whether the environment is as the params ask. */
  passed: boolean;
  /** One line in words. */
  summary: string;
  items: Item[];
}

/** Every test is given an environment's URL. */
export interface UrlParams {
  url: string;
}

/**
 * A test that the tester brings. `run` reports in its outcome what it found; it throws CouldNotRun when it could not
 * look, through no fault of the environment.
 */
export interface Kind<Params extends UrlParams = UrlParams> {
  type: string;
  description: string;
  params: z.ZodType<Params>;
  /** Whether results hold images. */
  images: boolean;
  run: (params: Params, context: RunContext) => Promise<Outcome>;
}

/** A test could not run; the message says why, for the environment's users. */
export class CouldNotRun extends Error {
  override name = 'CouldNotRun';
}
