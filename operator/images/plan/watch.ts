import { setImmediate } from 'node:timers/promises';

/** Thrown when matching the globs exceeds the budget of one plan. */
export class WatchTooLargeError extends Error {
  constructor() {
    super('the globs of all services take too long to match against the files. Use fewer, with whole names (libs/**)');
  }
}

/** About a second of work; a monorepo of 50,000 files with five globs for each of ten services takes most of it. */
const maxSteps = 100_000_000;
/** Each selected file is hashed, which takes as long as this many steps, beside those of its path. */
const hashedSteps = 100;
/** A few milliseconds of work. */
const stepsPerTick = 200_000;

/**
 * Budget for matching all globs of a plan, in steps of one compared name or character: globs and files are untrusted,
 * and the operator has one thread.
 */
export class WatchBudget {
  #left: number;
  #leftInTick = stepsPerTick;
  readonly #giveWay: () => Promise<unknown>;

  constructor(steps = maxSteps, giveWay: () => Promise<unknown> = () => setImmediate()) {
    this.#left = steps;
    this.#giveWay = giveWay;
  }

  /** @throws WatchTooLargeError when it is used up. */
  spend(steps: number): void {
    this.#left -= steps;
    this.#leftInTick -= steps;
    if (this.#left < 0) throw new WatchTooLargeError();
  }

  /** Yields to other work after some steps. */
  async pause(): Promise<void> {
    if (this.#leftInTick > 0) return;
    this.#leftInTick = stepsPerTick;
    await this.#giveWay();
  }
}

/**
 * Returns the files that match globs as in `x-coppice.watch`: `*` and `?` within a name, `**` for any directories; a
 * directory's name matches everything in it; a leading `!` excludes; the last match decides.
 * @throws WatchTooLargeError
 */
export async function watchedFiles<T extends { path: string }>(
  files: readonly T[],
  globs: readonly string[],
  budget: WatchBudget,
): Promise<T[]> {
  const patterns = globs.map(parseGlob);
  const watched: T[] = [];
  for (const file of files) {
    const names = file.path.split('/');
    budget.spend(names.length);
    if (isWatched(names, patterns, budget)) {
      watched.push(file);
      budget.spend(hashedSteps + file.path.length);
    }
    await budget.pause();
  }
  return watched;
}

interface Glob {
  isExclusion: boolean;
  names: NamePattern[];
}

/** A literal name, or characters with wildcards. */
type NamePattern = '**' | { literal: string } | { characters: string[] };

function parseGlob(glob: string): Glob {
  const isExclusion = glob.startsWith('!');
  const plain = (isExclusion ? glob.slice(1) : glob).replace(/^\.?\//, '').replace(/\/$/, '');
  const names = plain === '' || plain === '.' ? ['**'] : [...plain.split('/'), '**'];
  return { isExclusion, names: names.map(parseName) };
}

function parseName(name: string): NamePattern {
  if (name === '**') return '**';
  return /[*?]/.test(name) ? { characters: Array.from(name) } : { literal: name };
}

function isWatched(names: readonly string[], globs: readonly Glob[], budget: WatchBudget): boolean {
  let watched = false;
  for (const glob of globs) {
    // `**` matches any number of names, including none.
    const fits = wildcard(
      names,
      glob.names,
      (part) => part === '**',
      (name, part) => nameFits(name, part, budget),
      budget,
    );
    if (fits) watched = !glob.isExclusion;
  }
  return watched;
}

function nameFits(name: string, pattern: NamePattern, budget: WatchBudget): boolean {
  if (pattern === '**') return true;
  if ('literal' in pattern) return name === pattern.literal;
  return wildcard(
    Array.from(name),
    pattern.characters,
    (character) => character === '*',
    (character, expected) => expected === '?' || character === expected,
    budget,
  );
}

/**
 * Greedy matching with a single backtracking point, which is enough: the last star can take over from all before it.
 */
function wildcard<Item, Part>(
  items: readonly Item[],
  pattern: readonly Part[],
  isStar: (part: Part) => boolean,
  fitsOne: (item: Item, part: Part) => boolean,
  budget: WatchBudget,
): boolean {
  let at = 0;
  let partAt = 0;
  let star: { partAt: number; at: number } | undefined;
  while (at < items.length) {
    budget.spend(1);
    const part = pattern[partAt];
    const item = items[at];
    if (part !== undefined && isStar(part)) {
      star = { partAt, at };
      partAt += 1;
    } else if (part !== undefined && item !== undefined && fitsOne(item, part)) {
      at += 1;
      partAt += 1;
    } else if (star) {
      star.at += 1;
      at = star.at;
      partAt = star.partAt + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(partAt).every(isStar);
}
