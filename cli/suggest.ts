/** Returns the name most similar to a mistyped one; undefined if none is similar. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const max = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = max + 1;
  for (const candidate of new Set(names)) {
    const found = distance(name.toLowerCase(), candidate.toLowerCase());
    if (found < bestDistance) [best, bestDistance] = [candidate, found];
  }
  return best;
}

/** Returns a hint for a name that does not exist: the most similar one, or all that exist. */
export function hintOf(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return near !== undefined ? `Did you mean ${near}?` : `There are: ${names.length > 0 ? names.join(', ') : 'none'}`;
}

/** Returns how many characters must be inserted, deleted, replaced or swapped (optimal string alignment). */
export function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_one, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
