import { createHash } from 'node:crypto';

/** Short, and the same for equal values alone. */
export function hashOfValue(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
