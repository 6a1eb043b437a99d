import { z } from 'zod';
import { LINK_ID_PATTERN, withEnded, type EndedLinks } from '../../crds/ended-links.ts';
import { MAX_VALIDITY_SECONDS } from '../../environment-access/keys.ts';
import { Conflict } from '../shared/errors.ts';

/** Body of POST /api/environment/{id}/share/end. */
export const endLinksSchema = z
  .object({
    link: z.string().min(1).max(4096).optional().meta({ description: 'A link, its token, or its ID.' }),
    all: z.literal(true).optional().meta({ description: 'Ends all links that were made until now.' }),
  })
  .refine(({ link, all }) => (link === undefined) !== (all === undefined), {
    error: 'is needed, or all: true',
    path: ['link'],
  })
  // For the OpenAPI document, which cannot express the refinement.
  .meta({ minProperties: 1 });

/** What a caller names: the ID of a link, or the token in it. */
export function namedLink(text: string): { id: string } | { token: string } {
  if (LINK_ID_PATTERN.test(text)) return { id: text };
  return { token: URL.parse(text)?.searchParams.get('token') ?? text };
}

/** Returns the state after all links have ended. */
export function allEnded(now: Date): { before: string; links: null } {
  return { before: now.toISOString(), links: null };
}

/**
 * Returns the state after one link has ended. @throws Conflict if too many are ended
 * @param expiresAt when it ends by itself, in Unix seconds; undefined if that is unknown
 */
export function oneEnded(state: EndedLinks, id: string, expiresAt: number | undefined, now: Date): EndedLinks {
  const until = expiresAt === undefined ? now.getTime() + MAX_VALIDITY_SECONDS * 1000 : expiresAt * 1000;
  const ended = withEnded(state, { id, until: new Date(until) }, now);
  if (ended) return ended;
  throw new Conflict('too many links of this environment were ended one by one. End all of them');
}
