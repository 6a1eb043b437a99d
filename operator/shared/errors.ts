import { isInvalid, type ApiError } from '../../kubernetes/api-error.ts';
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
  return new Stalled('Refused', rejectedByKubernetes('it', error), { cause: error });
}

/** Returns the message for an object that the API server or an admission policy rejected, with what to do. */
export function rejectedByKubernetes(what: string, { statusMessage }: Pick<ApiError, 'statusMessage'>): string {
  const remedy = "Correct what it names, or ask an administrator to check the cluster's policies and quotas";
  return `Kubernetes rejected ${what}: ${statusMessage.replace(/\.$/, '')}. ${remedy}`;
}
