import { messageOf } from './problem.ts';

/** Does the work, and cleans up whatever its outcome. If both fail, throws an AggregateError with both errors. */
export async function withCleanUp<T>(work: () => Promise<T>, cleanUp: () => Promise<unknown>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    return cleanUpAfter(error, cleanUp);
  }
  await cleanUp();
  return result;
}

/** Cleans up after a failure and throws it; if cleaning up fails too, throws an AggregateError with both errors. */
export async function cleanUpAfter(failure: unknown, cleanUp: () => Promise<unknown>): Promise<never> {
  try {
    await cleanUp();
  } catch (error) {
    const message = `${messageOf(failure)}; and the clean-up failed: ${messageOf(error)}`;
    throw new AggregateError([failure, error], message, { cause: error });
  }
  throw failure;
}
