import { SourceRefusedError } from '../errors.ts';
import type { CommentLocation } from './host.ts';

export interface FoundComment {
  id: string;
  /** The output of programs is above it, so it cannot pass for the marker. */
  lastLine: string;
}

/** Operations on the comments of one pull request. */
export interface Comments {
  /** Returns only comments of the token's own user, if the host reports it: others can write the marker too. */
  own(): Promise<readonly FoundComment[]>;
  create(body: string): Promise<string>;
  update(id: string, body: string): Promise<void>;
}

/**
 * Writes the comment: updates the one with this ID, else one with the marker, else creates one. Ignores comments that
 * were deleted or that the host does not let us change. Returns its ID.
 */
export async function writeMarkedComment(
  comments: Comments,
  { id, marker }: CommentLocation,
  body: string,
): Promise<string> {
  if (id !== undefined && (await isUpdated(comments, id, body))) return id;
  for (const found of await comments.own()) {
    if (found.id !== id && found.lastLine === marker && (await isUpdated(comments, found.id, body))) return found.id;
  }
  return comments.create(body);
}

async function isUpdated(comments: Comments, id: string, body: string): Promise<boolean> {
  try {
    await comments.update(id, body);
    return true;
  } catch (error) {
    if (error instanceof SourceRefusedError && ['NotFound', 'Forbidden'].includes(error.reason)) return false;
    throw error;
  }
}
