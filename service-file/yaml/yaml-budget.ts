import { Lexer } from 'yaml';

/**
 * A token uses up to 1.2 KiB of memory until its file is read, so tokens are counted before the tree is created.
 * Ordinary files have one token for every three characters, so the limit of one file corresponds to 180 KiB.
 */
const maxTokensOfFile = 60_000;
/** Limit for all files of one service file; a file that is extended several times counts each time. */
const maxTokens = 120_000;
/** Counted after aliases are filled in, which limits "billion laughs" files. */
export const MAX_VALUES_OF_FILE = 20_000;
const maxValues = 60_000;

/** What is left of the YAML limits for one service file, over all its files. */
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
      if (ofFile > maxTokensOfFile) return `more than ${maxTokensOfFile} YAML tokens: shorten the file`;
      if (this.#tokens > maxTokens) {
        return `more than ${maxTokens} YAML tokens in all files together: include and extend less`;
      }
    }
    return undefined;
  }

  /** Counts a value; returns false if it is one too many over all files. */
  takeValue(): boolean {
    this.#values += 1;
    return this.#values <= maxValues;
  }

  /** Message for exceeding the limit of values over all files. */
  static readonly tooManyValues = `more than ${maxValues} values in all files together, aliases filled in: include and extend less`;
}
