/**
 * Waits for all, and then throws the first error in their order: nothing goes on in the background when a reconcile has
 * failed and starts again.
 */
export async function settled<T>(all: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(all);
  return Promise.all(all);
}
