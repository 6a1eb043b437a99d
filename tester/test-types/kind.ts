import type { z } from 'zod';
import type { Item } from './items.ts';

/** What a test receives in addition to its params. */
export interface RunContext {
  /** Aborted at the run's deadline, and when the tester stops. */
  signal: AbortSignal;
  /**
   * When a test must end, in monotonic milliseconds: shortly before the deadline, so that it can report its findings.
   */
  endBy: number;
  /** Sent with each request to the environment, to no other host. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface Outcome {
  /** Whether the environment meets the params' expectations. */
  passed: boolean;
  /** One line of text. */
  summary: string;
  items: Item[];
}

/** Params of every test contain an environment's URL. */
export interface UrlParams {
  url: string;
}

/**
 * A test type. `run` returns its findings as an outcome, and throws CouldNotRun when the test was not possible through
 * no fault of the environment.
 */
export interface Kind<Params extends UrlParams = UrlParams> {
  type: string;
  description: string;
  params: z.ZodType<Params>;
  /** Whether results contain images. */
  images: boolean;
  run: (params: Params, context: RunContext) => Promise<Outcome>;
}

/** A test could not run; the message explains why to the environment's users. */
export class CouldNotRun extends Error {
  override name = 'CouldNotRun';
}

/** Returns the error of a test that did not reach the environment because of the cluster. */
export function ingressUnreached(code: string, cause: unknown): CouldNotRun {
  const remedy = "Ask an administrator to check it, and the tester's network policies";
  return new CouldNotRun(`the Ingress controller was not reached (${code}). ${remedy}`, { cause });
}
