/** Exit codes of the command line; see docs/how-to/use-the-command-line.md. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notSignedIn: 4, timedOut: 8 } as const;

/** The exit codes as a section of the help. */
export const EXIT_HELP = `
Exit codes:
  ${EXIT.ok}  done
  ${EXIT.failed}  failed
  ${EXIT.usage}  wrong arguments
  ${EXIT.notSignedIn}  not signed in
  ${EXIT.timedOut}  the time of --timeout is over
  exec returns that of its command.`;

/** An error with its exit code, whose message is shown unchanged. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

/** A command in a container ended with this exit code, and has reported why itself. */
export class RemoteExit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.name = 'RemoteExit';
    this.exitCode = exitCode;
  }
}

/** Returns the error for invalid arguments. */
export function usageError(message: string): CliError {
  return new CliError(message, EXIT.usage);
}

/** Returns the error for a deadline that has passed. */
export function timedOut(message: string): CliError {
  return new CliError(message, EXIT.timedOut);
}

/** Returns the error for a missing or invalid token of a server. */
export function notSignedIn(url: string, isRejected: boolean): CliError {
  const why = isRejected ? `${url} does not accept the token` : `you are not signed in to ${url}`;
  return new CliError(`${why}. Run \`coppice login ${url}\`, or set COPPICE_TOKEN to an API token`, EXIT.notSignedIn);
}

/** Returns the code of a system error, such as `ECONNREFUSED`; for an aggregate, the code of its first error. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'errors' in error && Array.isArray(error.errors) ? codeOf(error.errors[0]) : undefined;
}
