import { TesterBusyError, TesterUnreachableError } from '../../tester-client/errors.ts';
import { describe } from '../conditions.ts';
import { Waiting } from '../errors.ts';
import type { Trouble } from './summary.ts';

/** What an error means for tests that it stopped. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof TesterBusyError) {
    return { reason: 'TesterBusy', message: "the tester's queue is full: they wait for their turn" };
  }
  // 503 while it starts, or without its Redis; another answer does not pass by itself.
  if (error instanceof TesterUnreachableError && error.status !== undefined && error.status !== 503) {
    return { reason: 'TesterRefuses', message: `${error.message}: an administrator can mend that (docs/tester.md)` };
  }
  if (error instanceof TesterUnreachableError) {
    return { reason: 'TesterUnreachable', message: 'the tester does not answer: it is asked again' };
  }
  return { reason: error instanceof Waiting ? error.reason : 'Retrying', message: describe(error) };
}

/** Whether it is the tester's trouble, which passes by itself. */
export function isOfTester(error: unknown): boolean {
  return error instanceof TesterBusyError || error instanceof TesterUnreachableError;
}
