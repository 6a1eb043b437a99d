import { type LineMask, lineMaskSteps } from './mask.ts';
import { GradualWorks } from './masking/gradual-works.ts';

const maxMasks = 64;
/** A mask can take 160 bytes for each character of its secrets. */
const maxCharacters = 512 * 1024;
/** Masks of secrets with at most as many characters are made at once, in 7 ms at most. */
const maxSmall = 2048;

/**
 * Makes the masks of all logs and statuses of a process, and keeps those that were used last: there can be thousands of
 * builds, whose masks together would need more memory than the process has. Large ones are made gradually, because
 * secrets can be chosen so that a mask takes seconds.
 */
export class Masks {
  readonly #works = new GradualWorks(maxSmall);
  /** By what they are for, in the order of their last use. */
  readonly #kept = new Map<string, { secrets: readonly string[]; mask: LineMask }>();
  /** Number of characters of the secrets of `#kept`. */
  #characters = 0;

  /** Returns the mask of these secrets. @param name what it is for: a former mask for it is forgotten */
  async find(name: string, secrets: readonly string[]): Promise<LineMask> {
    const kept = this.#kept.get(name);
    if (kept && isSame(kept.secrets, secrets)) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return kept.mask;
    }
    const characters = lengthOf(secrets);
    const mask = await this.#works.run(characters, lineMaskSteps(secrets));
    this.#forget(name);
    for (const other of this.#kept.keys()) {
      if (this.#kept.size < maxMasks && this.#characters + characters <= maxCharacters) break;
      this.#forget(other);
    }
    this.#kept.set(name, { secrets, mask });
    this.#characters += characters;
    return mask;
  }

  #forget(name: string): void {
    this.#characters -= lengthOf(this.#kept.get(name)?.secrets ?? []);
    this.#kept.delete(name);
  }
}

function lengthOf(secrets: readonly string[]): number {
  return secrets.reduce((sum, { length }) => sum + length, 0);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  if (some === others) return true;
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
