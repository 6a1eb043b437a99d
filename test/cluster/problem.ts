/**
 * An error on this machine that its user can fix: the message says what failed and what to do, and no stack trace is
 * shown.
 */
export class Problem extends Error {
  override name = 'Problem';
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
