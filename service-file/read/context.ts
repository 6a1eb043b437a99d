import type { RepositoryFiles } from '../files.ts';
import type { IncludedAs, IncludedServices } from '../included.ts';
import type { OwnVariables } from '../own-variables.ts';
import type { Problems } from '../problems.ts';
import type { IncludedRepository } from '../schema.ts';
import type { VariableLookup } from '../variables.ts';

/**
 * Context for reading the merged tree. In the tree variables are filled in, files merged, and `extends`, `include`,
 * `!reset` and `!override` resolved; each node has its file (`file`) and the folder to which its relative paths refer
 * (`folder`, from the repository's root).
 */
export interface ReadContext {
  problems: Problems;
  files: RepositoryFiles;
  /**
   * For entries without a value, `env_file` and `secrets.*.environment`: Coppice's variables, which override those of
   * `.env`.
   */
  variables: VariableLookup;
  /** The variables among them that nobody overrides. */
  own: OwnVariables;
  /** Filled while reading: contents of mounted files, by the object that stores them and the key in it. */
  contents: Map<string, Map<string, Buffer>>;
  /** Key of the hashes in the names of bundles and objects. */
  hashKey?: Uint8Array;
  /** Reads the repositories that the file includes; absent where they are not read. */
  include?: (repositories: readonly IncludedRepository[]) => Promise<IncludedServices>;
  /** How the file itself is included; absent for that of the environment's own repository. */
  included?: IncludedAs;
}
