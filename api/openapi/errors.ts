import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';

/** Contract section 7: the body of every error. */
export const errorSchema = z
  .object({
    error: z.string().meta({ description: 'What is wrong, in words.' }),
    details: z
      .array(
        z.object({
          path: z.string().meta({ description: 'The field, dotted; empty for the whole.' }),
          message: z.string(),
        }),
      )
      .optional()
      .meta({ description: 'Each fault of what was sent (422).' }),
  })
  .meta({ id: 'Error' });

/** Every status that an endpoint may answer beside its own, and when; what it says itself counts before what all have. */
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
      403: `A cookie that does not come from a page of this API, or ${needsLogin === true ? 'an API token' : 'a token that may not do this'}.`,
    }),
    ...((path.includes('{') || !isOpen) && {
      404: 'There is no such resource, or the caller may not see it.',
    }),
    ...(!isOpen && writes && { 409: 'The resource was changed at the same time, or is being deleted.' }),
    ...(body && { 413: 'The body is too large.' }),
    ...((body ?? query ?? (!isOpen && writes)) && { 422: 'What was sent is not valid; `details` says where.' }),
    429: 'Too many requests; `Retry-After` says when to come again.',
    503: 'The cluster or Redis cannot be reached, or there is too much to do; `Retry-After` says when to try again.',
    ...also,
  };
}
