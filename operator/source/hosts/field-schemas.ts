import { z } from 'zod';
import { isRefName } from '../../../crds/git-ref.ts';

/** Of a pull request: as many as a GitRef can name. */
export const numberSchema = z.int().min(1).max(999_999_999);
/** Whole or short. */
export const commitSchema = z.string().regex(/^[0-9a-f]{7,64}$/);
/** Of a project, a repository or an id. */
export const nameSchema = z.string().min(1).max(255);

/** Whoever may open a pull request names its branch, so a name that git is not to be asked for is none of the host's faults. */
export function isReadableRef(fullName: string): boolean {
  return fullName.length <= 255 && isRefName(fullName);
}
