import type { GitRef } from '../../crds/git-ref.ts';
import { Waiting } from '../shared/errors.ts';

/** The Git host refused the request, or what was requested does not exist: the user must change something first. */
export class SourceRefusedError extends Error {
  override readonly name = 'SourceRefusedError';
  readonly reason:
    | 'AuthenticationFailed'
    | 'Forbidden'
    | 'NotFound'
    | 'RefNotFound'
    | 'NotACommit'
    | 'AddressRefused'
    | 'HostKeyChanged'
    | 'RepositoryReplaced'
    | 'Refused'
    | 'TooSlow';

  constructor(reason: SourceRefusedError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The Git host could not be reached or its response was not usable; a later request may succeed. */
export class SourceUnreachableError extends Error {
  override readonly name: string = 'SourceUnreachableError';
}

/**
 * The Git host did not respond in time. Requests to it are backed off, because they occupy slots that others need. The
 * message is repeated during the backoff: give it no cause, whose message conditions would contain only the first time.
 */
export class HostTimeoutError extends SourceUnreachableError {
  override readonly name = 'HostTimeoutError';
}

/** The Git host limits requests for now. */
export class HostBusyError extends SourceUnreachableError {
  override readonly name = 'HostBusyError';
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Converts HostBusyError to Waiting, so that a busy host does not count as a failure; returns other errors unchanged.
 */
export function waitWhileBusy(error: unknown): unknown {
  if (!(error instanceof HostBusyError)) return error;
  return new Waiting('HostBusy', error.message, error.retryAfterMs, { cause: error });
}

/**
 * The Git host does not accept the repository's key. Users can register a key only after they have seen it, so the
 * operator waits.
 */
export class KeyNotAcceptedError extends Waiting {
  constructor(message: string, afterMs: number, options?: ErrorOptions) {
    super('KeyNotAccepted', message, afterMs, options);
  }
}

/** Returns the error for a ref that the Git host does not have, with what the user can do. */
export function refNotFound({ type, name }: GitRef, cause?: unknown): SourceRefusedError {
  const words = `the ${type} ${name} is not in the repository. Push it, then request a build; or delete the environment and correct the name`;
  return new SourceRefusedError('RefNotFound', words, { cause });
}
