/** What stands at a path of a repository. */
export type FileKind = 'file' | 'folder' | 'symlink' | 'submodule';

/** The files of one commit. Paths are relative to the repository's root, without `./` and `..`; `''` is the root. */
export interface RepositoryFiles {
  /** True where files may be missing that the repository has: what a build needs is not looked for then. */
  isPartial?: boolean;
  /** What stands at exactly this path, undefined for nothing. A path that leads through a symbolic link has nothing. */
  kindOf(path: string): FileKind | undefined;
  /** Every file below a folder, as paths from the root, sorted. */
  filesBelow(folder: string): readonly string[];
  isExecutable(path: string): boolean;
  /** Reports that these files are going to be read, which is faster at once. */
  prefetch?(paths: readonly string[]): Promise<void>;
  /** A file's bytes. Throws FileUnreadableError when it is none, or too large. */
  read(path: string): Promise<Buffer>;
}

/** Called with to the repository's author at the place that names the file. */
export class FileUnreadableError extends Error {
  override readonly name = 'FileUnreadableError';
}

/** The bytes of each bundle's files, by the bundle's name and the file's key. */
export type BundleContents = ReadonlyMap<string, ReadonlyMap<string, Buffer>>;
