import { TesterBusyError, TesterUnreachableError } from '../../../tester-client/errors.ts';
import { describe } from '../../shared/conditions.ts';
import { Waiting } from '../../shared/errors.ts';
import type { Diagnosis } from './summary.ts';

/** Returns why tests do not start or continue because of an error, with what to do. */
export function diagnosisOf(error: unknown): Diagnosis {
  if (error instanceof TesterBusyError) {
    return { reason: 'TesterBusy', message: "the tester's queue is full. The tests are queued again" };
  }
  // 503 while the tester starts or cannot reach its Redis; other statuses do not go away by themselves.
  if (error instanceof TesterUnreachableError && error.status !== undefined && error.status !== 503) {
    return {
      reason: 'TesterRefuses',
      message: `${error.message}. Ask an administrator to check the tester (docs/reference/tester.md)`,
    };
  }
  if (error instanceof TesterUnreachableError) {
    return { reason: 'TesterUnreachable', message: 'the tester does not respond. The request is retried' };
  }
  return { reason: error instanceof Waiting ? error.reason : 'Retrying', message: describe(error) };
}

/** Returns whether the tester caused the error, and a retry can succeed. */
export function isOfTester(error: unknown): boolean {
  return error instanceof TesterBusyError || error instanceof TesterUnreachableError;
}
