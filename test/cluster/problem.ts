/** Something on this machine is in the way: the message alone says what and what to do, so no stack trace is shown. */
export class Problem extends Error {
  override name = 'Problem';
}

/** What an unknown thrown value says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
