import { quoted } from './problems.ts';

/** The kind of object at a path of a repository. */
export type FileKind = 'file' | 'folder' | 'symlink' | 'submodule';

/** The files of one commit. Paths are relative to the repository's root, without `./` and `..`; `''` is the root. */
export interface RepositoryFiles {
  /**
   * True if the repository may have files that are missing here; missing files that a build needs are then not
   * reported.
   */
  isPartial?: boolean;
  /** Returns what is at exactly this path; undefined if nothing. Does not follow symbolic links. */
  kindOf(path: string): FileKind | undefined;
  /** Returns every file below a folder as paths from the root, sorted. */
  filesBelow(folder: string): readonly string[];
  isExecutable(path: string): boolean;
  /** Announces that these files will be read, because reading them together is faster. */
  prefetch?(paths: readonly string[]): Promise<void>;
  /** Reads a file. Throws FileUnreadableError if it is not a file, or too large. */
  read(path: string): Promise<Buffer>;
}

/** Reported to the repository's author, at the position that names the file. */
export class FileUnreadableError extends Error {
  override readonly name = 'FileUnreadableError';
}

/** The contents of mounted files, by the object that stores them and the key in it. */
export type FileContents = ReadonlyMap<string, ReadonlyMap<string, Buffer>>;

/** Returns the message for a path that must be a file. `kind`: what is there. */
export function notAFile(path: string, kind: FileKind | undefined): string {
  const found = kind === undefined ? 'there is no such file in the repository' : `it is a ${kind}`;
  return `${quoted(path)} cannot be read, because ${found}: add the file, or correct the path`;
}
