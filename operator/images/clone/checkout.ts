/** One repository's files in the workspace. */
export interface Checkout {
  /** Folder of its Git objects, as in `--git-dir`. */
  gitDir: string;
  /** Folder of its files. */
  folder: string;
  /** Path in the workspace; `''` for the environment's own repository. */
  path: string;
  origin: string;
  commit: string;
  /** The git configuration with which it was fetched. */
  config: string;
  authorization: string | undefined;
}
