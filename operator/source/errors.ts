import type { GitRef } from '../../crds/git-ref.ts';
import { Waiting } from '../shared/errors.ts';

/** The Git host refused or has no such thing: the user must change something before it can work. */
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
    | 'Refused'
    | 'TooSlow';

  constructor(reason: SourceRefusedError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The Git host did not answer as it should; it may later. */
export class SourceUnreachableError extends Error {
  override readonly name: string = 'SourceUnreachableError';
}

/** The Git host did not answer in time: it is backed off from, as it holds what others wait for. */
export class HostTimeoutError extends SourceUnreachableError {
  override readonly name = 'HostTimeoutError';
}

/** The Git host wants no more requests for a while. */
export class HostBusyError extends SourceUnreachableError {
  override readonly name = 'HostBusyError';
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A busy host is waited for until it said, without counting it as a failure; any other error is given back as it is. */
export function waitWhileBusy(error: unknown): unknown {
  if (!(error instanceof HostBusyError)) return error;
  return new Waiting('HostBusy', error.message, error.retryAfterMs, { cause: error });
}

/** The Git host does not let the repository's key in. Nobody can add it there before it was shown, so it is waited for. */
export class KeyNotAcceptedError extends Waiting {
  constructor(message: string, afterMs: number, options?: ErrorOptions) {
    super('KeyNotAccepted', message, afterMs, options);
  }
}

/** What the user does about a ref that the Git host has not. */
export function refNotFound({ type, name }: GitRef, cause?: unknown): SourceRefusedError {
  const words = `the ${type} ${name} is not in the repository. Push it, then request a build`;
  return new SourceRefusedError('RefNotFound', words, { cause });
}
