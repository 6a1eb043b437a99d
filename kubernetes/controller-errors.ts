/** The user must act: no retry, until the object changes. */
export class StallingError extends Error {
  override readonly name = 'StallingError';
}

/** Something else must happen first: requeue after `afterMs`, without counting it as a failure. */
export class WaitingError extends Error {
  override readonly name = 'WaitingError';
  readonly afterMs: number;

  constructor(message: string, afterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.afterMs = afterMs;
  }
}
