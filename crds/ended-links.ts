import { z } from 'zod';
import { timestampSchema } from './timestamp.ts';

/** Maximum number of links of an environment that are ended one by one. */
export const MAX_ENDED_LINKS = 50;

export const LINK_ID_PATTERN = /^[A-Za-z0-9_-]{16}$/;

/** Links that were ended before their time. */
export const endedLinksSchema = z
  .object({
    before: timestampSchema.optional().meta({ description: 'All links that were made until then have ended.' }),
    links: z
      .array(
        z.object({
          id: z.string().regex(LINK_ID_PATTERN).meta({ description: 'ID of the link, as POST …/share returns it.' }),
          until: timestampSchema.meta({ description: 'When the link would end; the entry is removed afterwards.' }),
        }),
      )
      .max(MAX_ENDED_LINKS)
      .optional()
      .meta({ description: 'Single links that have ended.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .meta({ description: 'Links to the environment that were ended before their time.' });
export type EndedLinks = z.infer<typeof endedLinksSchema>;

/** What identifies a link. Links of earlier versions of Coppice have neither, and end with all others. */
export interface LinkIdentity {
  id?: string | undefined;
  /** In Unix seconds. */
  madeAt?: number | undefined;
}

const secondsOf = (text: string) => Math.floor(Date.parse(text) / 1000);

export function hasEnded({ id, madeAt = 0 }: LinkIdentity, { before, links = [] }: EndedLinks = {}): boolean {
  if (before !== undefined && madeAt <= secondsOf(before)) return true;
  return id !== undefined && links.some((one) => one.id === id);
}

/** Returns the state after a link has ended, without those that end by themselves; undefined if there are too many. */
export function withEnded(
  { before, links = [] }: EndedLinks,
  { id, until }: { id: string; until: Date },
  now: Date,
): EndedLinks | undefined {
  const others = links.filter((one) => one.id !== id && Date.parse(one.until) > now.getTime());
  if (others.length >= MAX_ENDED_LINKS) return undefined;
  return { ...(before !== undefined && { before }), links: [...others, { id, until: until.toISOString() }] };
}

/** Returns the time of a new link, which all links that have ended precede, whatever the clocks of other replicas say. */
export function madeAtOf(at: number, { before }: EndedLinks = {}): number {
  // A time that somebody has set in the future must not make links that outlive it.
  return before === undefined ? at : Math.max(at, Math.min(secondsOf(before) + 1, at + 5));
}
