import { Lexer } from 'yaml';

/**
 * A token costs up to 1.2 KiB of memory until its file is read, so tokens are counted before there is a tree. Ordinary
 * files have one token for every three characters: the limit of one file is that of 180 KiB of them.
 */
const MAX_TOKENS_OF_FILE = 60_000;
/** Of all files of one service file; a file that is extended again counts again. */
const MAX_TOKENS = 120_000;
/** Counted after aliases are filled in: this is what bounds a "billion laughs" file. */
export const MAX_VALUES_OF_FILE = 20_000;
const MAX_VALUES = 60_000;

/** What reading the YAML of one service file can still cost, over all of its files. */
export class YamlBudget {
  #tokens = 0;
  #values = 0;

  /** Counts the tokens of a text, and stops at the first that exceeds the limit. @returns what exceeds it */
  takeTokens(text: string): string | undefined {
    let ofFile = 0;
    const tokens = new Lexer().lex(text);
    while (tokens.next().done !== true) {
      ofFile += 1;
      this.#tokens += 1;
      if (ofFile > MAX_TOKENS_OF_FILE) return `more than ${MAX_TOKENS_OF_FILE} YAML tokens: shorten the file`;
      if (this.#tokens > MAX_TOKENS) {
        return `more than ${MAX_TOKENS} YAML tokens in all files together: include and extend less`;
      }
    }
    return undefined;
  }

  /** Counts one value; false when it is one too many over all files. */
  takeValue(): boolean {
    this.#values += 1;
    return this.#values <= MAX_VALUES;
  }

  /** The message for values beyond the limit over all files. */
  static readonly tooManyValues = `more than ${MAX_VALUES} values in all files together, aliases filled in`;
}
