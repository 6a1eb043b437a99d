/**
 * An error on this machine that its user can fix: the message says what failed and what to do, and no stack trace is
 * shown.
 */
export class Problem extends Error {
  override name = 'Problem';
}

/** Exit status of a check that cannot run on this machine, as in Automake. */
export const NOT_RUN_STATUS = 77;

/** Ends a check that cannot run on this machine: `runMain` ends the process with NOT_RUN_STATUS. The message says what it needs. */
export class NotRun extends Error {
  override name = 'NotRun';
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
