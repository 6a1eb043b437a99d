import { createHash } from 'node:crypto';

/** Returns a short hash of a JSON value. */
export function hashOfValue(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
