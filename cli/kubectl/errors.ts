import { HttpError } from '../../api/shared/errors.ts';
import { ApiError, isUnavailable } from '../../kubernetes/api-error.ts';
import { RequestError } from '../api/client.ts';
import { ClusterUnreachableError, explained } from './refusal.ts';

/** Returns the error to show for the error of a request. */
export function shownError(error: unknown): unknown {
  if (error instanceof ApiError) return new RequestError(error.code, explained(error), [], { cause: error });
  if (error instanceof HttpError) return new RequestError(error.status, error.message, error.details, { cause: error });
  return error;
}

/** Runs requests, and converts refusals to errors to show. @throws CliError */
export async function translated<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw shownError(error);
  }
}

/** Returns whether the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ClusterUnreachableError || isUnavailable(error);
}
