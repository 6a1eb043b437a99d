/**
 * Runs work on all items in order, with at most `max` at the same time. Rejects with the first failure, after the
 * running work has ended.
 */
export async function atOnce<T>(max: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  // A shared iterator: each worker takes the next item when it is free.
  const left = items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    for (let next = left.next(); next.done !== true && !failure; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: max }, worker));
  if (failure) throw failure.error;
}
