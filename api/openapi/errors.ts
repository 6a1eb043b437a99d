import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';

/** The body of every error. */
export const errorSchema = z
  .object({
    error: z.string().meta({ description: 'A description of the error.' }),
    details: z
      .array(
        z.object({
          path: z.string().meta({ description: 'Dotted path of the field; empty for the whole body.' }),
          message: z.string(),
        }),
      )
      .optional()
      .meta({ description: 'Every fault of the request (422).' }),
  })
  .meta({ id: 'Error' });

/** Returns the error responses of an endpoint, by status. Its own descriptions take precedence over the common ones. */
export function errorsOf({
  isOpen,
  writes,
  needsLogin,
  path,
  body,
  query,
  also,
}: Endpoint): Record<number, string | undefined> {
  return {
    ...(!isOpen && {
      400: 'No authentication found.',
      401: 'The authentication is not valid.',
      403: `A cookie that does not come from a page of this API, or ${needsLogin === true ? 'an API token' : 'a token that does not permit this'}.`,
    }),
    ...((path.includes('{') || !isOpen) && {
      404: 'The resource does not exist, or the caller has no permission to see it.',
    }),
    ...(!isOpen && writes && { 409: 'The resource was changed at the same time, or is being deleted.' }),
    ...(body && { 413: 'The body is too large.' }),
    ...((body ?? query ?? (!isOpen && writes)) && { 422: 'The request is not valid; `details` lists the faults.' }),
    429: 'Too many requests; `Retry-After` says when to try again.',
    431: 'The address and the headers are too large together.',
    503: 'The cluster or Redis cannot be reached, or the API is overloaded; `Retry-After` says when to try again.',
    ...also,
  };
}
