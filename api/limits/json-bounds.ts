/** Much more than any request of the contract has. */
const maxValues = 20_000;
const maxDepth = 32;

/** Maximum size in bytes of a body that needs no login: an address and a password. */
export const OPEN_BODY_BYTES = 16 * 1024;

/** The `type` of the error for a body that exceeds these bounds. */
export const BEYOND_BOUNDS = 'entity.beyond.bounds';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openings = new Set([0x5b, 0x7b]);
const closings = new Set([0x5d, 0x7d]);

/**
 * Counts the values and the depth of a JSON text without parsing it, because a value of one byte becomes an object of
 * 56 bytes.
 * @param isUtf8 in other encodings any byte can be part of another character, so strings are counted too
 * @returns which bound the text exceeds; undefined if none
 */
export function beyondJsonBounds(json: Uint8Array, isUtf8 = true): string | undefined {
  let depth = 0;
  let values = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] ?? 0;
    if (isInString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) {
      isInString = isUtf8;
    } else if (openings.has(byte)) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep`;
    } else if (closings.has(byte)) {
      depth -= 1;
    } else if (byte === comma || byte === colon) {
      values += 1;
    }
    if (values > maxValues) return `has more than ${maxValues} values`;
  }
  return undefined;
}
