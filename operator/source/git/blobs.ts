import { FileUnreadableError } from '../../../service-file/files.ts';
import type { GitRunner } from './git.ts';
import type { BlobMemory } from './known-blobs.ts';

const maxFileBytes = 1024 * 1024;
/** Maximum number of files read of one commit: its service file, which is untrusted, decides which are read. */
const maxFiles = 1000;
const maxTotalBytes = 8 * 1024 * 1024;

/** The command with which git itself fetches missing objects of a partial clone; it writes no ref. */
const fetchArguments = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--filter=blob:none', 'origin'];

/**
 * Reads the blobs of the partial clone `repository`. Each blob that is not in memory is requested once, and any number
 * of them with three processes: one fetches them from the Git host, one returns their sizes, one returns the accepted
 * ones.
 */
export class Blobs {
  readonly #git: Pick<GitRunner, 'run'>;
  readonly #memory: BlobMemory;
  /** The bytes of a blob, or why they cannot be read. */
  readonly #known = new Map<string, Buffer | FileUnreadableError>();
  #files = 0;
  #bytes = 0;

  constructor(git: Pick<GitRunner, 'run'>, memory: BlobMemory) {
    this.#git = git;
    this.#memory = memory;
  }

  /** Returns a blob's bytes. Throws FileUnreadableError when it is too large, or the limit of all blobs is reached. */
  async read(id: string): Promise<Buffer> {
    await this.prefetch([id]);
    const known = this.#known.get(id);
    if (known === undefined) throw new Error(`the blob ${id} could not be read`);
    if (known instanceof FileUnreadableError) throw known;
    return known;
  }

  /** Reads all of these that are not known yet at once; read() reports those that cannot be read. */
  async prefetch(ids: readonly string[]): Promise<void> {
    const wanted = [...new Set(ids)].filter((id) => !this.#known.has(id));
    const taken = wanted.slice(0, maxFiles - this.#files);
    this.#files += taken.length;
    for (const id of wanted.slice(taken.length)) {
      this.#known.set(id, new FileUnreadableError(`would exceed the limit of ${maxFiles} files: use fewer`));
    }
    const remembered = new Map(taken.map((id) => [id, this.#memory.get(id)]));
    const sizes = await this.#fetch(taken.filter((id) => remembered.get(id) === undefined));
    const missing = [];
    // In the order of the request, so that which blobs are refused does not depend on what is in memory.
    for (const id of taken) {
      const bytes = remembered.get(id);
      const size = bytes?.length ?? sizes.get(id) ?? 0;
      if (!this.#isTaken(id, size)) continue;
      if (bytes) this.#known.set(id, bytes);
      else missing.push({ id, size });
    }
    if (missing.length > 0) await this.#read(missing);
  }

  /** Counts the bytes of a blob that is small enough; records why others are not read. */
  #isTaken(id: string, size: number): boolean {
    const left = maxTotalBytes - this.#bytes;
    if (size <= Math.min(left, maxFileBytes)) {
      this.#bytes += size;
      return true;
    }
    const why =
      size > maxFileBytes
        ? `is larger than ${maxFileBytes / 1024} KiB: shorten it`
        : `would exceed the limit of ${maxTotalBytes / 1024} KiB for all files: shorten some`;
    this.#known.set(id, new FileUnreadableError(why));
    return false;
  }

  /** Fetches blobs from the Git host. Returns their sizes, which git prints as one line `<id> blob <size>` each. */
  async #fetch(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    await this.#run([...fetchArguments, ...ids]);
    const output = await this.#run(['cat-file', '--batch-check'], linesOf(ids));
    const lines = output.toString('utf8').split('\n');
    return new Map(ids.map((id, index) => [id, sizeIn(lines[index] ?? '', id)]));
  }

  /** Parses the blobs: for each a line `<id> blob <size>`, the bytes, and a line feed. */
  async #read(blobs: readonly { id: string; size: number }[]): Promise<void> {
    const output = await this.#run(['cat-file', '--batch'], linesOf(blobs.map(({ id }) => id)));
    let at = 0;
    for (const { id, size } of blobs) {
      const start = output.indexOf('\n', at) + 1;
      if (sizeIn(output.toString('utf8', at, start - 1), id) !== size)
        throw new Error(`git returned another blob than ${id}`);
      at = start + size + 1;
      // Copies the bytes, so that neither the whole output nor one of Node's Buffer pools stays in memory.
      const bytes = Buffer.allocUnsafeSlow(size);
      output.copy(bytes, 0, start, start + size);
      this.#known.set(id, bytes);
      this.#memory.set(id, bytes);
    }
  }

  #run(args: readonly string[], input?: string): Promise<Buffer> {
    return this.#git.run(['-C', 'repository', ...args], input);
  }
}

function linesOf(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}

function sizeIn(line: string, id: string): number {
  const [found, type, size] = line.split(' ');
  if (found !== id || type !== 'blob') throw new Error(`git does not know the blob ${id}: ${line}`);
  return Number(size);
}
