import { TesterBusyError, TesterUnreachableError } from '../../../tester-client/errors.ts';
import { describe } from '../../shared/conditions.ts';
import { Waiting } from '../../shared/errors.ts';
import type { Diagnosis } from './summary.ts';

/** What an error means for tests that it stopped. */
export function diagnosisOf(error: unknown): Diagnosis {
  if (error instanceof TesterBusyError) {
    return { reason: 'TesterBusy', message: "the tester's queue is full. The tests are queued again" };
  }
  // 503 while it starts, or without its Redis; another answer does not pass by itself.
  if (error instanceof TesterUnreachableError && error.status !== undefined && error.status !== 503) {
    return {
      reason: 'TesterRefuses',
      message: `${error.message}: an administrator can fix that (docs/reference/tester.md)`,
    };
  }
  if (error instanceof TesterUnreachableError) {
    return { reason: 'TesterUnreachable', message: 'the tester does not respond. The request is retried' };
  }
  return { reason: error instanceof Waiting ? error.reason : 'Retrying', message: describe(error) };
}

/** Whether it is the tester's failure, which passes by itself. */
export function isOfTester(error: unknown): boolean {
  return error instanceof TesterBusyError || error instanceof TesterUnreachableError;
}
