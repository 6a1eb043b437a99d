import type { Problems } from '../problems.ts';

/** Maximum number of errors with a suggestion; untrusted files can have thousands. */
const maxErrors = 20;

/** Returns the candidate that `word` was probably meant to be: the one with the fewest edits, if they are few. */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  problems: Pick<Problems, 'errorCount'>,
): string | undefined {
  if (word.length > 40 || problems.errorCount >= maxErrors) return undefined;
  const meant = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    // The lengths differ by at most the number of edits.
    if (Math.abs(candidate.length - meant.length) >= bestDistance) continue;
    const distance = editDistance(meant, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let distance = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
