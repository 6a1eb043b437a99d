import { isUtf8 } from 'node:buffer';
import { FileUnreadableError, notAFile, type RepositoryFiles } from '../files.ts';
import { type SourcePosition, type Problems, quoted } from '../problems.ts';
import { isReservedName } from '../own-variables.ts';
import { readRepositoryPath } from '../repository-path.ts';
import { overriding, type Variable, type VariableLookup, type Variables } from '../variables.ts';
import { textOf, type YamlNode } from '../yaml/yaml-node.ts';
import type { Budget } from './budget.ts';
import { DotenvError, parseDotenv } from './dotenv.ts';

/** Reads the repository's files that belong to the service file as texts, within the budget. */
export class SourceFiles {
  readonly #files: RepositoryFiles;
  readonly #budget: Budget;
  readonly #problems: Problems;

  constructor(files: RepositoryFiles, budget: Budget, problems: Problems) {
    this.#files = files;
    this.#budget = budget;
    this.#problems = problems;
  }

  /**
   * Returns the path from the repository's root; reports and returns undefined if it is not a path in the repository.
   */
  path(node: YamlNode): string | undefined {
    const text = textOf(node);
    if (text === undefined || text === '') return this.#problems.error(node, 'must be the path of a file');
    if (/^[a-z][a-z\d+.-]*:\/\/|^git@|^oci:/i.test(text)) {
      return this.#problems.error(node, `${quoted(text)} is not in this repository: add a copy of it`);
    }
    return readRepositoryPath(text, node.folder, node, this.#problems);
  }

  has(path: string): boolean {
    return this.#files.kindOf(path) === 'file';
  }

  /** Reads a YAML file; reports at `at` and returns undefined if it cannot be read. */
  async yaml(path: string, at: SourcePosition): Promise<string | undefined> {
    return this.#budget.takeFile(at) ? this.#text(path, at) : undefined;
  }

  async #text(path: string, at: SourcePosition): Promise<string | undefined> {
    const kind = this.#files.kindOf(path);
    if (kind !== 'file') {
      return this.#problems.error(at, notAFile(path, kind));
    }
    try {
      const bytes = await this.#files.read(path);
      if (!this.#budget.takeBytes(bytes.length, at)) return undefined;
      return isUtf8(bytes)
        ? bytes.toString('utf8')
        : this.#problems.error(at, `${quoted(path)} is not UTF-8 text: save it as UTF-8`);
    } catch (error) {
      if (error instanceof FileUnreadableError) return this.#problems.error(at, error.message);
      throw error;
    }
  }

  /** Returns `variables` with those of env files, which they override; a later file overrides an earlier one. */
  async withEnvFiles(paths: readonly string[], variables: VariableLookup, at: SourcePosition): Promise<VariableLookup> {
    const defaults = new Map<string, Variable>();
    const all = overriding(variables, defaults);
    for (const path of paths) {
      const text = this.#budget.takeEnvFile(at) ? await this.#text(path, at) : undefined;
      if (text === undefined) return all;
      for (const [name, variable] of this.#parse(path, text, variables)) {
        // Ignores every reserved name: a variable that a later Coppice sets must not change what a file means.
        if (!isReservedName(name)) defaults.set(name, variable);
      }
    }
    return all;
  }

  #parse(path: string, text: string, variables: VariableLookup): Variables {
    try {
      return parseDotenv(text, variables, (line, message) =>
        this.#problems.warn({ file: path, path: '', line, column: 1 }, message),
      );
    } catch (error) {
      if (!(error instanceof DotenvError)) throw error;
      this.#problems.error({ file: path, path: '', line: error.line, column: 1 }, error.message);
      return new Map();
    }
  }
}
