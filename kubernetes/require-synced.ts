/** A readiness check: throws an error that names the informers whose first list is not in. */
export function requireSynced(informers: readonly { name: string; hasSynced(): boolean }[]): void {
  const missing = informers.filter((informer) => !informer.hasSynced()).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`not synced: ${missing.join(', ')}`);
}
