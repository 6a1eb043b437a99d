import { z } from 'zod';
import { compareResourceVersions } from '../../kubernetes/resource-type.ts';

/** The kinds of objects whose changes are sent. Each kind has resource versions of its own. */
export const CHANGE_KINDS = ['group', 'repository', 'environment'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type Versions = Readonly<Record<ChangeKind, string>>;

/** How far a client has read the stream. Replicas read the same versions, so a client can continue at any of them. */
export interface Position {
  /** Up to these versions nothing is missing. */
  seen: Versions;
  /** The newest objects have these versions; unlike `seen`, other replicas reach them without a further change. */
  newest: Versions;
}

const form = /^(\d{1,20})-(\d{1,20})-(\d{1,20})$/;

/** Returns the text that clients send back: `12-345-6789.12-340-6780`. */
export function formatPosition({ seen, newest }: Position): string {
  return [seen, newest].map((versions) => CHANGE_KINDS.map((kind) => versions[kind]).join('-')).join('.');
}

/** Returns undefined if the text is not a position. */
export function parsePosition(text: string): Position | undefined {
  const [seen, newest, ...others] = text.split('.').map(versionsOf);
  return seen && newest && others.length === 0 ? { seen, newest } : undefined;
}

/** The id of an event, as clients send it back. */
export const positionField = z
  .string()
  .refine((text) => parsePosition(text) !== undefined, { error: 'must be the id of an event of GET /api/events' });

function versionsOf(text: string): Versions | undefined {
  const [, group, repository, environment] = form.exec(text) ?? [];
  if (group === undefined || repository === undefined || environment === undefined) return undefined;
  return { group, repository, environment };
}

export function newerOf(a: string, b: string | undefined): string {
  return b !== undefined && compareResourceVersions(b, a) > 0 ? b : a;
}
