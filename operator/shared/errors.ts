import { isInvalid } from '../../kubernetes/api-error.ts';
import { StallingError, WaitingError } from '../../kubernetes/controller-errors.ts';

/** The user must act; the object's conditions show the reason and the message. */
export class Stalled extends StallingError {
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message);
    this.reason = reason;
    this.cause = options?.cause;
  }
}

/** Something else must happen first; the object's conditions show it meanwhile. */
export class Waiting extends WaitingError {
  readonly reason: string;

  constructor(reason: string, message: string, afterMs: number, options?: ErrorOptions) {
    super(message, afterMs, options);
    this.reason = reason;
  }
}

/** Returns Stalled for errors of the API server that only a change can fix; other errors unchanged. */
export function userMustAct(error: unknown): unknown {
  if (!isInvalid(error)) return error;
  return new Stalled('Refused', `Kubernetes rejected it: ${error.statusMessage}`, { cause: error });
}
