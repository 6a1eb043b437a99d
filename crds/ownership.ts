import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { FIELD_MANAGERS, LABELS, MANAGED_BY } from './labels.ts';

/** The metadata that describes who manages an object. */
interface Managed {
  metadata: {
    labels?: Record<string, string> | undefined;
    annotations?: Record<string, string> | undefined;
    managedFields?: unknown;
  };
}

/** A set of fields in `managedFields`: https://kubernetes.io/docs/reference/using-api/server-side-apply/. */
type FieldSet = Record<string, unknown>;

const recordSchema = z.record(z.string(), z.unknown());
const fieldsSchema = z.array(
  z.object({
    manager: z.string().optional(),
    operation: z.string().optional(),
    subresource: z.string().optional(),
  }),
);
const ownedFieldsSchema = z.array(fieldsSchema.element.extend({ fieldsV1: recordSchema.optional() }));
type OwnedFields = z.infer<typeof ownedFieldsSchema>[number];

const coppice: readonly (string | undefined)[] = Object.values(FIELD_MANAGERS);
/** Annotation that client-side `kubectl apply` writes. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const clientSideApply = 'kubectl apply';

/** Returns whether Coppice created the object. */
export function isMadeByCoppice({ metadata }: Managed): boolean {
  return metadata.labels?.[LABELS.managedBy] === MANAGED_BY;
}

/**
 * Returns whether another manager, such as a GitOps tool or kubectl, has applied the object: then a deletion would be
 * reverted. Requires an object from the API server, or from a cache that keeps withAppliers().
 */
export function isAppliedByOthers({ metadata }: Managed): boolean {
  return metadata.annotations?.[lastApplied] !== undefined || appliers(metadata).length > 0;
}

/**
 * Transforms an object for an informer: keeps of managedFields, which take the most memory, only what
 * isAppliedByOthers() needs.
 */
export function withAppliers<T extends Managed>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return object;
  const kept = appliers(object.metadata);
  return { ...object, metadata: { ...metadata, ...(kept.length > 0 && { managedFields: kept }) } };
}

/**
 * Returns the field manager of an object that Coppice did not create, or that another manager has applied; undefined if
 * Coppice can delete it. Empty if the manager is unknown.
 */
export function otherManager(object: Managed): string | undefined {
  const { metadata } = object;
  if (metadata.annotations?.[lastApplied] !== undefined) return clientSideManager(metadata);
  const [applier] = appliers(metadata);
  if (applier) return applier.manager ?? '';
  if (isMadeByCoppice(object)) return undefined;
  return othersOf(metadata).find(({ fieldsV1 }) => fieldsV1?.['f:spec'] !== undefined)?.manager ?? '';
}

/** A field that another manager applies, such as `spec.members`. */
export interface OwnedField {
  path: string;
  manager: string;
}

/**
 * Returns the first field that a merge patch of the spec would change and that another manager applies, so that its next
 * apply would undo the change. Compares items of lists that Kubernetes merges (sets, maps by key) one by one, as
 * server-side apply does; `kubectl apply` without it replaces lists of custom resources as a whole.
 */
export function appliedFieldIn(
  object: Managed & { spec: object },
  patch: Readonly<Record<string, unknown>>,
): OwnedField | undefined {
  for (const { manager, spec } of appliedSpecs(object.metadata)) {
    const path = changedIn(spec, object.spec, patch, 'spec');
    if (path !== undefined) return { path, manager };
  }
  return undefined;
}

/** The applied part of a value: the fields of managedFields, or the value itself as recorded by `kubectl apply`. */
type Applied = { fields: unknown } | { value: unknown };

function appliedSpecs({ annotations, managedFields }: Managed['metadata']): { manager: string; spec: Applied }[] {
  const applied = othersOf({ managedFields })
    .filter(({ operation }) => operation === 'Apply')
    .map(({ manager = '', fieldsV1 }) => ({ manager, spec: { fields: fieldsV1?.['f:spec'] } }));
  const text = annotations?.[lastApplied];
  if (text === undefined) return applied;
  const manager = clientSideManager({ annotations, managedFields });
  return [...applied, { manager, spec: { value: parseRecord(text)?.['spec'] } }];
}

/** Returns the path of the first applied field that a merge patch changes. */
function changedIn(applied: Applied, before: unknown, patch: unknown, path: string): string | undefined {
  if (!isApplied(applied) || isDeepStrictEqual(before, patch ?? undefined)) return undefined;
  const [old, changed] = [recordOf(before), recordOf(patch)];
  if (old && changed) {
    for (const [name, value] of Object.entries(changed)) {
      const found = changedIn(fieldOf(applied, name), old[name], value, `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if ('fields' in applied && Array.isArray(before) && Array.isArray(patch)) {
    return changedItem(recordOf(applied.fields) ?? {}, before, patch, path);
  }
  return path;
}

/** Returns the first applied item that is removed or changed; the list itself if it is atomic. */
function changedItem(fields: FieldSet, before: unknown[], after: unknown[], path: string): string | undefined {
  const items = Object.keys(fields).filter((key) => /^[kv]:/.test(key));
  if (items.length === 0) return path;
  for (const key of items) {
    const isItem = itemMatcher(key);
    if (!isDeepStrictEqual(before.find(isItem), after.find(isItem))) return `${path}[${key.slice(2)}]`;
  }
  return undefined;
}

/** `v:"a"` is an item of a set; `k:{"name":"a"}` is an item of a map by its keys. */
function itemMatcher(key: string): (item: unknown) => boolean {
  const named: unknown = parseJson(key.slice(2));
  const keys = key.startsWith('k:') ? Object.entries(recordOf(named) ?? {}) : undefined;
  if (!keys) return (item) => isDeepStrictEqual(item, named);
  return (item) => keys.every(([name, value]) => isDeepStrictEqual(recordOf(item)?.[name], value));
}

function isApplied(applied: Applied): boolean {
  return 'fields' in applied ? applied.fields !== undefined : applied.value !== undefined;
}

/**
 * Returns an applied field. managedFields lists no fields below an object that was applied as a whole: each of its
 * fields counts as applied.
 */
function fieldOf(applied: Applied, name: string): Applied {
  if ('value' in applied) return { value: recordOf(applied.value)?.[name] };
  const fields = recordOf(applied.fields) ?? {};
  return { fields: Object.keys(fields).length === 0 ? {} : fields[`f:${name}`] };
}

/** Returns who writes the annotation of `kubectl apply`: kubectl itself, or a tool that applies the same way. */
function clientSideManager(metadata: Managed['metadata']): string {
  const keeps = ({ fieldsV1 }: OwnedFields) => {
    const annotations = recordOf(recordOf(fieldsV1?.['f:metadata'])?.['f:annotations']);
    return annotations?.[`f:${lastApplied}`] !== undefined;
  };
  return othersOf(metadata).find(keeps)?.manager ?? clientSideApply;
}

/**
 * Returns the other managers that apply the object server-side. Informers call this for every event, so an entry is
 * parsed only if it can be one.
 */
function appliers({ managedFields }: Managed['metadata']) {
  const entries: unknown[] = Array.isArray(managedFields) ? managedFields : [];
  return entries.filter(isApply).flatMap((entry) => {
    const { data } = fieldsSchema.element.safeParse(entry);
    return data && isOthers(data) ? [data] : [];
  });
}

function isApply(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null || !('operation' in entry)) return false;
  return entry.operation === 'Apply' && !('subresource' in entry && entry.subresource);
}

/** Returns the fields of the object that others than Coppice manage. */
function othersOf({ managedFields = [] }: Managed['metadata']): OwnedFields[] {
  return (ownedFieldsSchema.safeParse(managedFields).data ?? []).filter(isOthers);
}

function isOthers({ manager, subresource = '' }: z.infer<typeof fieldsSchema>[number]): boolean {
  return subresource === '' && !coppice.includes(manager);
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return Array.isArray(value) ? undefined : recordSchema.safeParse(value).data;
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  return recordOf(parseJson(text));
}

/** Parses text that the API server or kubectl wrote; undefined if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
