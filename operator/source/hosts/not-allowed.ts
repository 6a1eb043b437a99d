import { SourceRefusedError } from '../errors.ts';

/**
 * Runs a request that the token may not permit; returns undefined if it does not. Hosts respond with 403 or 404 to what
 * a token cannot see. Some respond with 401 to a missing scope, which `reasons` lists.
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
