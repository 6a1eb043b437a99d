import { isNotFound } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { sleep, type Clock } from '../../kubernetes/clock.ts';
import { listAll } from '../../kubernetes/list-watch.ts';
import { CustomResourceDefinition, keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { storageMigrationOf, type StorageMigration } from './plan.ts';

interface MigrationOptions {
  client: Pick<ClusterClient, 'get' | 'list' | 'patchStatus'>;
  /** Names of the definitions. */
  definitions: readonly string[];
  /** Receives a line for each definition. */
  report: (line: string) => void;
  clock: Clock;
  signal: AbortSignal;
  /** Until all API servers of a cluster store the current version. */
  propagationMs?: number;
}

const defaultPropagationMs = 10_000;
const concurrency = 4;
const maxShownFailures = 5;

/**
 * Rewrites all objects of the definitions that may be stored in an earlier version, and records in `status.storedVersions`
 * that none is left. Does nothing if none is. Can be repeated after any failure.
 * @throws Error if an object cannot be written; the versions of its definition stay recorded
 */
export async function migrateStorage(options: MigrationOptions): Promise<void> {
  const { client, definitions, report, clock, signal, propagationMs = defaultPropagationMs } = options;
  let isPropagated = false;
  for (const name of definitions) {
    const definition = await client.get(CustomResourceDefinition, { name }, { signal });
    const migration = storageMigrationOf(definition);
    if (!migration) {
      report(`${name}: all objects are stored in the current version`);
      continue;
    }
    if (!isPropagated) await sleep(clock, propagationMs, signal);
    isPropagated = true;
    const { type, obsolete } = migration;
    const count = await rewriteObjects(migration, options);
    // If the definition has changed meanwhile, other objects may be left, and the API server refuses the version.
    const { resourceVersion } = definition.metadata;
    const storedVersions = [type.version];
    await client.patchStatus(
      CustomResourceDefinition,
      { name },
      { status: { storedVersions } },
      { resourceVersion, signal },
    );
    report(`${name}: ${count} objects are stored in ${type.version}, none in ${obsolete.join(', ')}`);
  }
}

/** Writes each object as it is, which stores it in the current version; returns how many there are. */
async function rewriteObjects(
  { type }: StorageMigration,
  { client, signal }: Pick<MigrationOptions, 'client' | 'signal'>,
): Promise<number> {
  // Objects that are created during the list are stored in the current version already.
  const { items } = await listAll({ list: (options) => client.list(type, { metadataOnly: true, ...options }) }, signal);
  const failures: string[] = [];
  const rewrite = async (object: KubernetesObject) => {
    const { namespace, name } = object.metadata;
    try {
      // An empty patch changes nothing, but the API server writes an object that is stored in another version.
      await client.patchStatus(type, { namespace, name }, {}, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isNotFound(error))
        failures.push(`${keyOf(object)}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const rest = items.values();
  const work = async () => {
    for (const object of rest) await rewrite(object);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  if (failures.length > 0) {
    const shown = failures.slice(0, maxShownFailures).join('\n');
    throw new Error(
      `${failures.length} of ${items.length} ${type.plural} could not be written. Fix or delete them, and repeat:\n${shown}`,
    );
  }
  return items.length;
}
