import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Label of locally built images and created containers: a hash of all their inputs. */
export const RECIPE_LABEL = 'dev.coppice.recipe';

export const recipeLabelOf = (recipe: string): string => `${RECIPE_LABEL}=${recipe}`;

/** Returns the files below a folder, or the file itself, sorted for a stable hash. */
export function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/**
 * Returns a short hash of these files, or of all files below these folders (names, modes, contents), and of these
 * words.
 */
export function recipeHash(
  paths: readonly string[],
  words: readonly string[] = [],
  counts: (file: string) => boolean = () => true,
): string {
  const hash = createHash('sha256').update(JSON.stringify(words));
  for (const path of paths) {
    for (const file of filesBelow(path).filter(counts)) {
      const mode = statSync(file).mode & 0o111 ? 'x' : '-';
      const content = createHash('sha256').update(readFileSync(file)).digest('hex');
      hash.update(`${relative(dirname(path), file)}\0${mode}\0${content}\0`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}
