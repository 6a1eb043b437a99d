import { setImmediate } from 'node:timers/promises';

/** The globs ask for more comparing than one plan may take. */
export class WatchTooLargeError extends Error {
  constructor() {
    super('the globs of all services take too long to compare with the files: use fewer, and whole names (libs/**)');
  }
}

/** About a second's work; a monorepo of 50,000 files with five globs for each of ten services takes a third. */
const MAX_STEPS = 100_000_000;
/** Some milliseconds' work. */
const STEPS_PER_TURN = 200_000;

/**
 * What may be spent on all globs of a plan, in steps, one for each name or character that is looked at: globs and files
 * come from strangers, and the operator has one thread, which others get in between.
 */
export class WatchBudget {
  #left: number;
  #leftInTurn = STEPS_PER_TURN;
  readonly #giveWay: () => Promise<unknown>;

  constructor(steps = MAX_STEPS, giveWay: () => Promise<unknown> = () => setImmediate()) {
    this.#left = steps;
    this.#giveWay = giveWay;
  }

  /** @throws WatchTooLargeError when it is used up. */
  spend(steps: number): void {
    this.#left -= steps;
    this.#leftInTurn -= steps;
    if (this.#left < 0) throw new WatchTooLargeError();
  }

  /** Lets others go on when it has been long enough. */
  async pause(): Promise<void> {
    if (this.#leftInTurn > 0) return;
    this.#leftInTurn = STEPS_PER_TURN;
    await this.#giveWay();
  }
}

/**
 * The files that fit globs as `x-coppice.watch` has them: `*` and `?` within a name, `**` for any folders; one that
 * names a folder stands for all below it; one that begins with `!` takes out again, the last that fits decides.
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
      // It is going to be hashed.
      budget.spend(file.path.length);
    }
    await budget.pause();
  }
  return watched;
}

interface Glob {
  isExclusion: boolean;
  names: NamePattern[];
}

/** A name as it stands, or characters with wildcards among them. */
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
    // `**` stands for any number of names, none included.
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

/** Greedy matching with one point to go back to, which is enough: the last star can take over from all before it. */
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
