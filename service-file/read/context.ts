import type { RepositoryFiles } from '../files.ts';
import type { Problems } from '../problems.ts';
import type { Variables } from '../variables.ts';

/**
 * What reading the merged tree needs beside it. In the tree every variable is filled in, files are merged, `extends`,
 * `include`, `!reset` and `!override` are gone; each node says which file it is from (`file`) and which folder its
 * relative paths start from (`folder`, from the repository's root).
 */
export interface ReadContext {
  problems: Problems;
  files: RepositoryFiles;
  /** For entries without a value, `env_file` and `secrets.*.environment`: Coppice's variables over those of `.env`. */
  variables: Variables;
  /** Filled while reading: the bytes of each bundle's files, by the bundle's name and the file's key. */
  contents: Map<string, ReadonlyMap<string, Buffer>>;
  /** Key of the hashes in bundles' names. */
  hashKey?: Uint8Array;
}
