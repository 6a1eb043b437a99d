import type { SourcePosition, Problems } from '../problems.ts';
import { YamlBudget } from '../yaml/yaml-budget.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';

/** Limits over all files together, which ordinary files never reach and hostile files cannot exceed. */
const limits = {
  files: 20,
  envFiles: 50,
  bytes: 512 * 1024,
  /** Size of texts with variables filled in. */
  filledBytes: 1024 * 1024,
  values: 20_000,
  /** Keys and values of merged trees: a model is counted with each file that is merged over it. */
  mergedText: 4 * 1024 * 1024,
};

/** What is left of the limits for one service file; exceeding a limit is reported once. */
export class Budget {
  readonly yaml = new YamlBudget();
  readonly #problems: Problems;
  #files = 0;
  #envFiles = 0;
  #bytes = 0;
  #filledBytes = 0;
  #values = 0;
  #text = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** Counts a YAML file; returns false if it is one too many. */
  takeFile(at: SourcePosition): boolean {
    const message = `more than ${limits.files} files are read: include and extend fewer`;
    return this.#isWithin(this.#files, (this.#files += 1), limits.files, at, message);
  }

  takeEnvFile(at: SourcePosition): boolean {
    const message = `more than ${limits.envFiles} env files are read: name fewer`;
    return this.#isWithin(this.#envFiles, (this.#envFiles += 1), limits.envFiles, at, message);
  }

  /** Counts a file's size. */
  takeBytes(bytes: number, at: SourcePosition): boolean {
    const message = `the service file and what it includes are larger than ${limits.bytes / 1024} KiB: shorten them`;
    return this.#isWithin(this.#bytes, (this.#bytes += bytes), limits.bytes, at, message);
  }

  /** Counts a text with variables filled in. */
  takeFilled(bytes: number, at: SourcePosition): boolean {
    const message = `the file is larger than ${limits.filledBytes / 1024} KiB with its variables filled in: shorten it or their values`;
    return this.#isWithin(this.#filledBytes, (this.#filledBytes += bytes), limits.filledBytes, at, message);
  }

  /** Whether texts with variables filled in have exceeded the limit. */
  get exceedsFilledText(): boolean {
    return this.#filledBytes > limits.filledBytes;
  }

  /** Counts the values of a merged tree, in which parts of files can be repeated, and the text of its keys and values. */
  takeMerged(tree: YamlNode): boolean {
    const advice = 'extended and included ones filled in: extend and include fewer';
    const { values, text } = sizeOf(tree);
    const tooMany = `more than ${limits.values} values, ${advice}`;
    const tooLong = `more than ${limits.mergedText / 1024} KiB of text, ${advice}`;
    const isFew = this.#isWithin(this.#values, (this.#values += values), limits.values, tree, tooMany);
    return this.#isWithin(this.#text, (this.#text += text), limits.mergedText, tree, tooLong) && isFew;
  }

  /** Whether merged trees have exceeded a limit. */
  get exceedsMergedSize(): boolean {
    return this.#values > limits.values || this.#text > limits.mergedText;
  }

  #isWithin(before: number, after: number, limit: number, at: SourcePosition, message: string): boolean {
    if (before <= limit && after > limit) this.#problems.error(at, message);
    return after <= limit;
  }
}

/** Returns the number of values, and the characters of keys and values. */
function sizeOf(node: YamlNode): { values: number; text: number } {
  if (node.kind === 'scalar') return { values: 1, text: typeof node.value === 'string' ? node.value.length : 0 };
  const size = { values: 1, text: 0 };
  const add = (child: YamlNode) => {
    const { values, text } = sizeOf(child);
    size.values += values;
    size.text += text;
  };
  if (node.kind === 'list') for (const item of node.items) add(item);
  else {
    for (const { key, value } of node.entries) {
      size.text += key.length;
      add(value);
    }
  }
  return size;
}
