/** The tester does not take the test as it is: its own words say why. */
export class TestRefusedError extends Error {
  override readonly name = 'TestRefusedError';
}

/** The tester's queue is full: the same test may be taken later. */
export class TesterBusyError extends Error {
  override readonly name = 'TesterBusyError';
}

/** The tester knows no such run, or not any more. */
export class UnknownRunError extends Error {
  override readonly name = 'UnknownRunError';
}

/** There is no answer that could be used; another try may get one. The message names no address of a run. */
export class TesterUnreachableError extends Error {
  override readonly name = 'TesterUnreachableError';

  /** That it answered with, where it did. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}
