import type { CustomResourceDefinition, ResourceType } from '../../kubernetes/resource-type.ts';

/** What is left to do before a definition can drop versions that it once stored. */
export interface StorageMigration {
  /** The kind in the version that the API server stores now. */
  type: ResourceType;
  /** Versions in which objects may still be stored. */
  obsolete: string[];
}

/** Returns the migration of a kind; undefined if all its objects are stored in the current version. */
export function storageMigrationOf({ spec, status }: CustomResourceDefinition): StorageMigration | undefined {
  const { group, names, scope, versions } = spec;
  const version = versions.find(({ storage }) => storage)?.name;
  const obsolete = (status?.storedVersions ?? []).filter((stored) => stored !== version);
  if (version === undefined || obsolete.length === 0) return undefined;
  const { kind, plural } = names;
  return { type: { group, version, kind, plural, namespaced: scope === 'Namespaced' }, obsolete };
}
