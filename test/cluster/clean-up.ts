import { messageOf } from './problem.ts';

/** Does the work, and cleans up, whatever became of it. When both fail, throws an AggregateError of both. */
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

/** Cleans up after this failure, and throws it; when the clean-up fails too, an AggregateError of both. */
export async function cleanUpAfter(failure: unknown, cleanUp: () => Promise<unknown>): Promise<never> {
  try {
    await cleanUp();
  } catch (error) {
    const message = `${messageOf(failure)}; and the clean-up failed: ${messageOf(error)}`;
    throw new AggregateError([failure, error], message, { cause: error });
  }
  throw failure;
}
