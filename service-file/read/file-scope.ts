import type { Bundles } from './bundles.ts';
import type { DeclaredContent } from './contents.ts';
import type { ReadContext } from './context.ts';
import type { FileBundle, Volume } from '../schema.ts';

/** Declarations of the whole file by their names in it, with which its services are read. */
export interface FileScope extends ReadContext {
  volumes: ReadonlyMap<string, Volume>;
  /** Names of the networks in the model. */
  networks: ReadonlyMap<string, string>;
  configs: ReadonlyMap<string, DeclaredContent>;
  secrets: ReadonlyMap<string, DeclaredContent>;
  bundles: Bundles;
  /** Filled while reading: variables of each env file, by its path and format. */
  envFiles: Map<string, ReadonlyMap<string, string>>;
  /** Filled while reading: bundle of each mounted folder of the repository; undefined if it was refused. */
  folderBundles: Map<string, FileBundle | undefined>;
  /** Filled while reading: volumes that replace empty folders of the repository, by path. */
  folderVolumes: Map<string, Volume>;
}
