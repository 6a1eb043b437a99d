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
/** Limit of the text of keys and values: an alias repeats a long text for the price of one value. */
const maxTextKib = 1024;

/** What is left of the YAML limits for one service file, over all its files. */
export class YamlBudget {
  #tokens = 0;
  #values = 0;
  #text = 0;

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

  /** Counts a value. @returns what exceeds the limit over all files */
  takeValue(): string | undefined {
    this.#values += 1;
    if (this.#values <= maxValues) return undefined;
    return `more than ${maxValues} values in all files together, aliases filled in: include and extend less`;
  }

  /** Counts the text of a key or of a value. @returns what exceeds the limit over all files */
  takeText(text: string): string | undefined {
    this.#text += text.length;
    if (this.#text <= maxTextKib * 1024) return undefined;
    return `more than ${maxTextKib} KiB of text in all files together, aliases filled in: shorten it`;
  }
}
