import { SourceRefusedError } from '../errors.ts';

/**
 * For what a token need not be allowed: undefined where it is not. Hosts say 404 as well as 403 for what a token may not
 * see, and some say 401 for a scope that it lacks: those name their `reasons`.
 */
export async function unlessNotAllowed<T>(
  call: () => Promise<T>,
  reasons: readonly SourceRefusedError['reason'][] = ['Forbidden', 'NotFound'],
): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SourceRefusedError && reasons.includes(error.reason)) return undefined;
    throw error;
  }
}
