import { StallingError, WaitingError } from '../kubernetes/controller-errors.ts';

/** The user must act; the reason and the message go into the object's conditions. */
export class Stalled extends StallingError {
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message);
    this.reason = reason;
    this.cause = options?.cause;
  }
}

/** Something else must happen first; told in the object's conditions while it lasts. */
export class Waiting extends WaitingError {
  readonly reason: string;

  constructor(reason: string, message: string, afterMs: number, options?: ErrorOptions) {
    super(message, afterMs, options);
    this.reason = reason;
  }
}
