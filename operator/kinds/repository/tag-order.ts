/**
 * Splits a name into the text before its first number, the number, and the rest: `v1.10.0-rc.1` into `v`, `1.10.0`,
 * `-rc.1`.
 */
const parts = /^(\D*)(\d+(?:\.\d+)*)(.*)$/su;

interface Tag {
  name: string;
  prefix: string;
  /** Undefined in a name without numbers. */
  numbers: string | undefined;
  rest: string;
}

/**
 * If there are more tags, only the last ones by name are considered, so that a hostile list cannot block the operator.
 */
const maxConsidered = 20_000;

/**
 * Returns the `count` newest tags by version order, newest first. Names without a number come last. Each name is parsed
 * once, and only candidates are sorted.
 */
export function newestTags(names: Iterable<string>, count: number): string[] {
  const newest: Tag[] = [];
  for (const name of [...names].slice(-maxConsidered)) {
    const tag = parseTag(name);
    const oldest = newest[count - 1];
    if (count === 0 || (oldest && compareTags(tag, oldest) <= 0)) continue;
    newest.splice(insertionIndex(tag, newest), 0, tag);
    newest.length = Math.min(newest.length, count);
  }
  return newest.map(({ name }) => name);
}

/** Returns the position of a tag by binary search. */
function insertionIndex(tag: Tag, newestFirst: readonly Tag[]): number {
  let [low, high] = [0, newestFirst.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = newestFirst[middle];
    if (other && compareTags(tag, other) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function parseTag(name: string): Tag {
  const [, prefix = '', numbers, rest = ''] = parts.exec(name) ?? [];
  return { name, prefix, numbers, rest };
}

/** Returns a negative number when `a` is older: compares numbers, then pre-releases before releases, then names. */
function compareTags(a: Tag, b: Tag): number {
  if (a.numbers === undefined || b.numbers === undefined) {
    return Number(a.numbers !== undefined) - Number(b.numbers !== undefined) || byCharacters(a.name, b.name);
  }
  return (
    naturally(a.numbers, b.numbers) ||
    rank(a.rest) - rank(b.rest) ||
    naturally(a.rest, b.rest) ||
    naturally(a.prefix, b.prefix) ||
    byCharacters(a.name, b.name)
  );
}

/** Ranks the rest: `1.0-rc.1` is before `1.0`, and `1.0+7`, a build in Semantic Versioning, after it. */
function rank(rest: string): number {
  if (rest === '') return 1;
  return rest.startsWith('+') ? 2 : 0;
}

/** Compares by characters, and runs of digits by value. Creates no substrings, which would take most of the time. */
function naturally(a: string, b: string): number {
  const same = startOfDifference(a, b);
  let [i, j] = [same, same];
  while (i < a.length && j < b.length) {
    if (isDigit(a, i) && isDigit(b, j)) {
      const [startA, startB] = [endOf(isZero, a, i), endOf(isZero, b, j)];
      i = endOf(isDigit, a, startA);
      j = endOf(isDigit, b, startB);
      const order = i - startA - (j - startB) || compareUnits(a, startA, b, startB, i - startA);
      if (order !== 0) return order;
    } else {
      const order = a.charCodeAt(i) - b.charCodeAt(j);
      if (order !== 0) return order;
      i += 1;
      j += 1;
    }
  }
  return a.length - i - (b.length - j);
}

/** Returns where the first run of digits or other character starts that differs; hostile names share long beginnings. */
function startOfDifference(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  while (at > 0 && isDigit(a, at - 1)) at -= 1;
  return at;
}

function compareUnits(a: string, startA: number, b: string, startB: number, length: number): number {
  for (let at = 0; at < length; at++) {
    const order = a.charCodeAt(startA + at) - b.charCodeAt(startB + at);
    if (order !== 0) return order;
  }
  return 0;
}

function endOf(isOne: (text: string, at: number) => boolean, text: string, from: number): number {
  let end = from;
  while (end < text.length && isOne(text, end)) end += 1;
  return end;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

function isZero(text: string, at: number): boolean {
  return text.charCodeAt(at) === 0x30;
}

function byCharacters(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
