import { setImmediate } from 'node:timers/promises';
import { jestExpect } from '@jest/expect';
import type { Circus } from '@jest/types';
import { addEventHandler, getState } from 'jest-circus';

/** Rejections that no code has handled yet. */
const rejections = new Map<Promise<unknown>, unknown>();

const onException = (error: unknown): void => fail(getState().currentlyRunningTest, [error]);
const onRejection = (reason: unknown, promise: Promise<unknown>): void => void rejections.set(promise, reason);
const onHandled = (promise: Promise<unknown>): void => void rejections.delete(promise);

/**
 * Fails tests by errors that no code handles, until the returned function is called. The listeners of Jest's worker are
 * removed meanwhile: they end the process, and Jest would silently try the file again.
 */
export function watchUnhandledErrors(): () => void {
  const ofExceptions = process.listeners('uncaughtException');
  const ofRejections = process.listeners('unhandledRejection');
  process.removeAllListeners('uncaughtException').on('uncaughtException', onException);
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', onRejection);
  process.on('rejectionHandled', onHandled);
  return () => {
    process.off('uncaughtException', onException).off('unhandledRejection', onRejection);
    process.off('rejectionHandled', onHandled);
    for (const listener of ofExceptions) process.on('uncaughtException', listener);
    for (const listener of ofRejections) process.on('unhandledRejection', listener);
  };
}

addEventHandler(async (event) => {
  switch (event.name) {
    case 'test_start':
      jestExpect.setState({ currentTestName: event.test.name, suppressedErrors: [] });
      break;
    case 'test_fn_success':
    case 'test_fn_failure':
    case 'hook_success':
    case 'hook_failure':
      await failByRejections(event.test);
      break;
    case 'test_done':
      event.test.errors.push(...errorsOfExpectations());
  }
});

/** Fails a test, or the file if the rejections are of a hook for several tests. */
async function failByRejections(test: Circus.TestEntry | undefined): Promise<void> {
  // Node reports a rejection in the next iteration of its event loop.
  await setImmediate();
  fail(test, [...rejections.values()]);
  rejections.clear();
}

function fail(test: Circus.TestEntry | null | undefined, errors: unknown[]): void {
  (test?.errors ?? getState().unhandledErrors).push(...errors);
}

/** Returns the errors of `expect.assertions()` and of failed expectations that continued their test. */
function errorsOfExpectations(): unknown[] {
  const { suppressedErrors } = jestExpect.getState();
  return [...suppressedErrors, ...jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error)];
}
