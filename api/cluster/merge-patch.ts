/** A JSON merge patch (RFC 7386) of an object. */
export interface MergePatch {
  metadata?: { uid?: string | undefined };
}

type Fields = Record<string, unknown>;

/**
 * Returns one patch with the effect of the first and then the second; undefined if there is none: an object cannot be
 * both removed and set.
 */
export function composePatches(first: object, second: object): MergePatch | undefined {
  const composed: Fields = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const former = composed[key];
    if (isFields(value) && former !== undefined) {
      const both = isFields(former) ? composePatches(former, value) : undefined;
      if (!both) return undefined;
      composed[key] = both;
    } else {
      composed[key] = value;
    }
  }
  return composed;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
