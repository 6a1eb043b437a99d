/** The tester rejects the test; its message says why. */
export class TestRefusedError extends Error {
  override readonly name = 'TestRefusedError';
}

/** The tester's queue is full; the same test may be accepted later. */
export class TesterBusyError extends Error {
  override readonly name = 'TesterBusyError';
}

/** The tester does not have this run, or no longer has it. */
export class UnknownRunError extends Error {
  override readonly name = 'UnknownRunError';
}

/** There was no usable response; a retry may succeed. The message contains no address of a run. */
export class TesterUnreachableError extends Error {
  override readonly name = 'TesterUnreachableError';

  /** Status of the response, if there was one. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}
