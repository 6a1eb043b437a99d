/** The user must act: the reconcile is not retried until the object changes. */
export class StallingError extends Error {
  override readonly name = 'StallingError';
}

/** Something else must happen first: requeues after `afterMs`, and does not count as a failure. */
export class WaitingError extends Error {
  override readonly name = 'WaitingError';
  readonly afterMs: number;

  constructor(message: string, afterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.afterMs = afterMs;
  }
}
