/** Works on all items, so many at once, in their order; rejects with the first failure, once what is under way has ended. */
export async function atOnce<T>(max: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  // One iterator for all: who is free takes the next.
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
