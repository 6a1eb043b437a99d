import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder (or the file itself), sorted, so that their order never changes a hash. */
export function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/** A short hash of these files' names, modes and contents and of these words. */
export function recipeHash(paths: readonly string[], words: readonly string[] = []): string {
  const hash = createHash('sha256').update(JSON.stringify(words));
  for (const path of paths.flatMap(filesBelow)) {
    // The name's last part, since the same files below another folder make the same image.
    const mode = statSync(path).mode & 0o111 ? 'x' : '-';
    hash.update(`\0${path.split('/').pop() ?? ''}\0${mode}\0`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}
