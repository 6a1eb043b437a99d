import type { Bundles } from './bundles.ts';
import type { DeclaredContent } from './contents.ts';
import type { ReadContext } from './context.ts';
import type { FileBundle, Volume } from '../schema.ts';

/** What the whole file declares, by the names in the file: what one service of it is read with. */
export interface FileScope extends ReadContext {
  volumes: ReadonlyMap<string, Volume>;
  /** What each network is called here. */
  networks: ReadonlyMap<string, string>;
  configs: ReadonlyMap<string, DeclaredContent>;
  secrets: ReadonlyMap<string, DeclaredContent>;
  bundles: Bundles;
  /** Filled while reading: the variables of each env file, by its path and format. */
  envFiles: Map<string, ReadonlyMap<string, string>>;
  /** Filled while reading: the bundle of each folder of the repository that is mounted; undefined where it is refused. */
  folderBundles: Map<string, FileBundle | undefined>;
  /** Filled while reading: the volumes that stand for empty folders of the repository, by path. */
  folderVolumes: Map<string, Volume>;
}
