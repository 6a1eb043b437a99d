import type { SourcePosition, Problems } from '../problems.ts';
import type { VariableLookup } from '../variables.ts';
import type { YamlMap } from '../yaml/yaml-node.ts';
import type { YamlOrigin } from '../yaml/yaml-tree.ts';
import type { Budget } from './budget.ts';
import type { SourceFiles } from './source-files.ts';

/** A text to merge over the previous ones. */
export interface ModelSource {
  text: string;
  origin: YamlOrigin;
}

/** A model is loaded separately: that of the repository, and each included one. */
export interface ModelContext {
  variables: VariableLookup;
  /** Files whose includes led here, to detect a file that includes itself. */
  includedBy: readonly string[];
}

/** Loads models, and the files that they include and extend. */
export interface ModelLoader {
  readonly sources: SourceFiles;
  readonly problems: Problems;
  readonly budget: Budget;
  /** Returns `variables` over those of a folder's `.env`, where there is one. */
  withDotenv(folder: string, variables: VariableLookup): Promise<VariableLookup>;
  /** Returns files merged in their order, with what they include and extend. */
  model(sources: readonly ModelSource[], context: ModelContext): Promise<YamlMap | undefined>;
  /** Returns a repository's file as a tree whose relative paths start from `folder`. */
  file(path: string, folder: string, variables: VariableLookup, at: SourcePosition): Promise<YamlMap | undefined>;
}
