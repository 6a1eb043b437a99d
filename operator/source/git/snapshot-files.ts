import { type FileKind, FileUnreadableError, type RepositoryFiles } from '../../../service-file/files.ts';
import type { TreeEntry } from './tree.ts';

/** The files of a fetched commit: its trees list them, and a file's bytes are fetched when it is read. */
export class SnapshotFiles implements RepositoryFiles {
  readonly #entries: ReadonlyMap<string, TreeEntry>;
  /** Sorted, so that the files of a folder are adjacent. */
  readonly #paths: readonly string[];
  readonly #readBlob: (id: string) => Promise<Buffer>;
  readonly #prefetchBlobs: (ids: readonly string[]) => Promise<void>;

  constructor(
    entries: readonly TreeEntry[],
    readBlob: (id: string) => Promise<Buffer>,
    prefetchBlobs: (ids: readonly string[]) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#entries = new Map(entries.map((entry) => [entry.path, entry]));
    this.#paths = entries
      .filter(({ type }) => type === 'file')
      .map(({ path }) => path)
      .sort();
    this.#readBlob = readBlob;
    this.#prefetchBlobs = prefetchBlobs;
  }

  kindOf(path: string): FileKind | undefined {
    return this.#entries.get(path)?.type;
  }

  filesBelow(folder: string): readonly string[] {
    if (folder === '') return this.#paths;
    // '0' is the character after '/'.
    return this.#paths.slice(this.#countBefore(`${folder}/`), this.#countBefore(`${folder}0`));
  }

  isExecutable(path: string): boolean {
    return this.#entries.get(path)?.isExecutable ?? false;
  }

  prefetch(paths: readonly string[]): Promise<void> {
    const entries = paths.flatMap((path) => this.#entries.get(path) ?? []);
    return this.#prefetchBlobs(entries.filter(({ type }) => type === 'file').map(({ id }) => id));
  }

  read(path: string): Promise<Buffer> {
    const entry = this.#entries.get(path);
    if (entry?.type === 'file') return this.#readBlob(entry.id);
    return Promise.reject(
      new FileUnreadableError(
        entry ? `is a ${entry.type}, not a file: name a file` : 'is not in the repository: add it, or correct the path',
      ),
    );
  }

  /** Returns how many paths sort before this text, by binary search. */
  #countBefore(text: string): number {
    let from = 0;
    let to = this.#paths.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#paths[middle] ?? '') < text) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
