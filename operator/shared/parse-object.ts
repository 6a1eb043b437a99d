import type { z } from 'zod';
import { Stalled } from './errors.ts';

/** Parses an object of Coppice's kinds by its schema. An invalid object is reported, and can still be deleted. */
export function parseObject<T extends { apiVersion: string; kind: string }>(
  schema: z.ZodType<Omit<T, 'apiVersion' | 'kind'>>,
  object: T,
): { object: T; problem?: Stalled } {
  const parsed = schema.safeParse(object);
  const { apiVersion, kind } = object;
  if (parsed.success) return { object: { ...parsed.data, apiVersion, kind } as T };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return { object: structuredClone(object), problem: new Stalled('Invalid', faults) };
}
