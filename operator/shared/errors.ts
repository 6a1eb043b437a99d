import { isInvalid } from '../../kubernetes/api-error.ts';
import { StallingError, WaitingError } from '../../kubernetes/controller-errors.ts';

/** The user must act; the reason and the message go into the object's conditions. */
export class Stalled extends StallingError {
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message);
    this.reason = reason;
    this.cause = options?.cause;
  }
}

/** Something else must happen first; reported in the object's conditions while it lasts. */
export class Waiting extends WaitingError {
  readonly reason: string;

  constructor(reason: string, message: string, afterMs: number, options?: ErrorOptions) {
    super(message, afterMs, options);
    this.reason = reason;
  }
}

/** Returns Stalled for what the API server refuses for good, which only a change by somebody fixes; other errors as they are. */
export function userMustAct(error: unknown): unknown {
  if (!isInvalid(error)) return error;
  return new Stalled('Refused', `Kubernetes rejected it: ${error.statusMessage}`, { cause: error });
}
