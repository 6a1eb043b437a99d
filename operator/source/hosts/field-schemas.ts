import { z } from 'zod';
import { isRefName } from '../../../crds/git-ref.ts';

/** Number of a pull request, up to the maximum of a GitRef. */
export const numberSchema = z.int().min(1).max(999_999_999);
/** A commit ID, complete or abbreviated. */
export const commitSchema = z.string().regex(/^[0-9a-f]{7,64}$/);
/** Name of a project or repository, or an ID. */
export const nameSchema = z.string().min(1).max(255);

/**
 * Returns whether git can be asked for this ref. The author of a pull request chooses its branch's name, so a bad name
 * is not a fault of the host.
 */
export function isReadableRef(fullName: string): boolean {
  return fullName.length <= 255 && isRefName(fullName);
}
