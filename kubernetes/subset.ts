import { createHash } from 'node:crypto';

/** Lists in an object's metadata to which others can add entries: only our entries are compared. */
const sharedLists = ['finalizers', 'ownerReferences'];

/**
 * Returns the part of `live` that `desired` names. Lists are compared as a whole, except finalizers and owner
 * references, of which only those in `desired` are returned.
 */
export function project(desired: unknown, live: unknown): unknown {
  if (isList(desired) && isList(live)) {
    return live.map((item, index) => (index < desired.length ? project(desired[index], item) : item));
  }
  if (!isRecord(desired) || !isRecord(live)) return live;
  // Object.fromEntries, because a field can be called __proto__.
  return Object.fromEntries(
    Object.entries(desired)
      .filter(([key, value]) => value !== undefined && (Object.hasOwn(live, key) || isEmptyList(value)))
      .map(([key, value]) => {
        // By the API conventions an empty list equals an absent one, and the API server drops empty lists of many
        // kinds.
        if (!Object.hasOwn(live, key)) return [key, []];
        return [key, (key === 'metadata' ? projectMetadata : project)(value, live[key])];
      }),
  );
}

function isEmptyList(value: unknown): boolean {
  return isList(value) && value.length === 0;
}

function projectMetadata(desired: unknown, live: unknown): unknown {
  const projected = project(desired, live);
  if (!isRecord(projected) || !isRecord(desired) || !isRecord(live)) return projected;
  for (const list of sharedLists) {
    const [wanted, held] = [desired[list], live[list]];
    if (!isList(wanted) || !isList(held)) continue;
    projected[list] = wanted.filter((item) => held.some((other) => isSubset(item, other)));
  }
  return projected;
}

/** Returns whether `live` contains everything that `desired` names. Undefined fields count as absent. */
export function isSubset(desired: unknown, live: unknown): boolean {
  if (isList(desired)) {
    const isSame = isList(live) && live.length === desired.length;
    return isSame && desired.every((item, index) => isSubset(item, live[index]));
  }
  // Texts, numbers, and what serializes itself.
  if (!isRecord(desired) || typeof desired['toJSON'] === 'function') {
    return desired === live || canonical(desired) === canonical(live);
  }
  if (!isRecord(live)) return false;
  return Object.entries(desired).every(([key, value]) => {
    if (value === undefined) return true;
    if (!Object.hasOwn(live, key)) return isEmptyList(value);
    return (key === 'metadata' ? isMetadataSubset : isSubset)(value, live[key]);
  });
}

function isMetadataSubset(desired: unknown, live: unknown): boolean {
  if (!isRecord(desired) || !isRecord(live)) return isSubset(desired, live);
  return Object.entries(desired).every(([key, wanted]) => {
    const held = live[key];
    const isShared = sharedLists.includes(key) && isList(wanted) && isList(held);
    if (!isShared) return isSubset({ [key]: wanted }, live);
    return wanted.every((item) => held.some((other) => isSubset(item, other)));
  });
}

/** Returns a hash of a JSON value that is independent of the order of keys and of undefined fields. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 32);
}

/**
 * Returns JSON with sorted keys. The sorted copy takes half the time of a replacer, and the operator serializes every
 * object of every environment when it starts.
 */
function canonical(value: unknown): string {
  return JSON.stringify(sorted({ value }));
}

function sorted(value: unknown): unknown {
  if (isList(value)) return value.map(sorted);
  if (!isRecord(value) || typeof value['toJSON'] === 'function') return value;
  // Without a prototype, because a field can be called __proto__.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key]);
  return copy;
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
