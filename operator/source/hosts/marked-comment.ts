import { SourceRefusedError } from '../errors.ts';
import type { CommentLocation } from './host.ts';

export interface FoundComment {
  id: string;
  body: string;
}

/** What a host's comments on one pull request can be done with. */
export interface Comments {
  /** Only those that the token's own user wrote, as far as the host reports: others may write the marker too. */
  own(): Promise<readonly FoundComment[]>;
  create(body: string): Promise<string>;
  update(id: string, body: string): Promise<void>;
}

/**
 * Writes the one comment: over the one of this id, else over one with the marker, else a new one. A comment that somebody
 * deleted, or that the host does not let us change, is none. Gives its id.
 */
export async function writeMarkedComment(
  comments: Comments,
  { id, marker }: CommentLocation,
  body: string,
): Promise<string> {
  if (id !== undefined && (await isUpdated(comments, id, body))) return id;
  for (const found of await comments.own()) {
    if (found.id !== id && lastLine(found.body) === marker && (await isUpdated(comments, found.id, body)))
      return found.id;
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

/** What a program said stands above it, so that nobody's output passes for the marker. Hosts may write line ends of their own. */
function lastLine(text: string): string | undefined {
  return text.trim().split(/\r?\n/).at(-1);
}
