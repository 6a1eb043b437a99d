/** One repository's files in the workspace. */
export interface Checkout {
  /** Where its objects are, as `--git-dir`. */
  gitDir: string;
  /** Where its files are. */
  folder: string;
  /** Its path in the workspace; `''` for the environment's own repository. */
  path: string;
  origin: string;
  commit: string;
  /** The git configuration that it was fetched with. */
  config: string;
  authorization: string | undefined;
}
