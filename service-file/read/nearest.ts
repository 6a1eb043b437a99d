import type { Problems } from '../problems.ts';

/** Maximum number of errors with a suggestion; untrusted files can have thousands. */
const maxErrors = 20;
/** Maximum number of candidates of a similar length; a file can declare thousands. */
const maxCandidates = 200;

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
  let compared = 0;
  for (const candidate of candidates) {
    // The lengths differ by at most the number of edits.
    if (Math.abs(candidate.length - meant.length) >= bestDistance) continue;
    if ((compared += 1) > maxCandidates) break;
    const distance = editDistance(meant, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, or `limit`
 * if there are at least as many. Computes only the diagonals that fewer edits can reach.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => Math.min(column, limit));
  for (let row = 1; row <= a.length; row++) {
    const current = Array<number>(b.length + 1).fill(limit);
    if (row < limit) current[0] = row;
    let best = current[0] ?? limit;
    for (let column = Math.max(1, row - limit + 1); column <= Math.min(b.length, row + limit - 1); column++) {
      const same = a[row - 1] === b[column - 1];
      let distance = Math.min(
        limit,
        (previous[column] ?? limit) + 1,
        (current[column - 1] ?? limit) + 1,
        (previous[column - 1] ?? limit) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforePrevious[column - 2] ?? limit) + 1);
      }
      current[column] = distance;
      best = Math.min(best, distance);
    }
    if (best >= limit && previous.every((distance) => distance >= limit)) return limit;
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? limit;
}
