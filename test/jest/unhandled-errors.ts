import { setImmediate } from 'node:timers/promises';
import { jestExpect } from '@jest/expect';
import type { Circus } from '@jest/types';
import { addEventHandler, getState } from 'jest-circus';

/** Rejections that no code has handled yet, with the test that caused each. */
const rejections = new Map<Promise<unknown>, { reason: unknown; test: Circus.TestEntry | undefined }>();

const onException = (error: unknown): void => fail(responsibleTest(), error);
const onRejection = (reason: unknown, promise: Promise<unknown>): void =>
  void rejections.set(promise, { reason, test: responsibleTest() });
const onHandled = (promise: Promise<unknown>): void => void rejections.delete(promise);

/**
 * Fails the responsible test, or else the file, when an error is not handled, until the returned function is called.
 * The listeners of Jest's worker are removed meanwhile: they end the process, and Jest would silently try the file again.
 */
export function watchUnhandledErrors(): () => void {
  const exceptionListeners = process.listeners('uncaughtException');
  const rejectionListeners = process.listeners('unhandledRejection');
  rejections.clear();
  process.removeAllListeners('uncaughtException').on('uncaughtException', onException);
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', onRejection);
  process.on('rejectionHandled', onHandled);
  return () => {
    process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
    process.off('rejectionHandled', onHandled);
    for (const listener of exceptionListeners) process.on('uncaughtException', listener);
    for (const listener of rejectionListeners) process.on('unhandledRejection', listener);
  };
}

addEventHandler(async (event) => {
  switch (event.name) {
    case 'test_start':
      jestExpect.setState({ currentTestName: event.test.name });
      break;
    case 'run_start':
    case 'test_fn_success':
    case 'test_fn_failure':
    case 'hook_success':
    case 'hook_failure':
    case 'run_finish':
      await failByRejections();
      break;
    case 'test_done':
      event.test.errors.push(...takeExpectationErrors());
  }
});

async function failByRejections(): Promise<void> {
  // Node reports rejections only after all microtasks.
  await setImmediate();
  for (const { reason, test } of rejections.values()) fail(test, reason);
  rejections.clear();
}

/** Returns the test whose code runs now, even if it has ended, or undefined if none of this file does. */
function responsibleTest(): Circus.TestEntry | undefined {
  const { currentlyRunningTest, rootDescribeBlock } = getState();
  const identity = jestExpect.getState().currentTestIdentity?.() ?? currentlyRunningTest;
  return testsIn(rootDescribeBlock).find((test) => test === identity);
}

function testsIn(block: Circus.DescribeBlock): Circus.TestEntry[] {
  return block.children.flatMap((child) => (child.type === 'test' ? [child] : testsIn(child)));
}

function fail(test: Circus.TestEntry | undefined, error: unknown): void {
  (test?.errors ?? getState().unhandledErrors).push(error);
}

/** Returns the errors of `expect.assertions()`, and of matchers that recorded an error without throwing it, once. */
export function takeExpectationErrors(): unknown[] {
  const { suppressedErrors } = jestExpect.getState();
  jestExpect.setState({ suppressedErrors: [] });
  return [...suppressedErrors, ...jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error)];
}
