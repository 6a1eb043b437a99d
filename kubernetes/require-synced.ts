/** A readiness check: throws an error with the names of the informers that have not synced. */
export function requireSynced(informers: readonly { name: string; hasSynced(): boolean }[]): void {
  const missing = informers.filter((informer) => !informer.hasSynced()).map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(
      `not listed yet: ${missing.join(', ')}. If this lasts, check that the API server responds and permits listing them`,
    );
}
