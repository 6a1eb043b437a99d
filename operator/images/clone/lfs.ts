import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OriginRules } from '../../source/network/addresses.ts';
import { parseSshOrigin } from '../../source/network/ssh-origin.ts';
import type { Checkout } from './checkout.ts';
import { entriesOf, runGit, report } from './git.ts';
import { LfsClient } from './lfs-client.ts';
import { MAX_POINTER, parsePointer, type LfsPointer } from './lfs-pointer.ts';

interface LargeFile {
  path: string;
  pointer: LfsPointer;
}

/** Limit for all large files of one build together; they share the workspace's volume with other files. */
const maxBytes = 2 * 1024 ** 3;
const perBatch = 100;
const atOnce = 4;

/** Replaces pointers by large files where .gitattributes has `filter=lfs`. */
export class LargeFiles {
  readonly #rules: OriginRules;
  #bytes = 0;

  constructor(rules: OriginRules) {
    this.#rules = rules;
  }

  async fetch(checkout: Checkout): Promise<void> {
    const files = await largeFiles(checkout);
    if (files.length === 0) return;
    if (parseSshOrigin(checkout.origin)) {
      throw new Error('large files (Git LFS) cannot be fetched over SSH. Give the repository an https:// origin');
    }
    const byOid = new Map(files.map(({ pointer }) => [pointer.oid, pointer]));
    this.#bytes += files.reduce((sum, { pointer }) => sum + pointer.size, 0);
    if (this.#bytes > maxBytes)
      throw new Error(
        `the large files are more than ${maxBytes / 1024 ** 3} GiB together, which is the limit. Remove some`,
      );
    report(`fetching ${files.length} large files (Git LFS), ${this.#bytes} bytes`);
    const { origin, authorization } = checkout;
    const client = new LfsClient({ origin, authorization, rules: this.#rules });
    for (let at = 0; at < files.length; at += perBatch) {
      const batch = files.slice(at, at + perBatch);
      const oids = new Set(batch.map(({ pointer }) => pointer.oid));
      const locations = await client.locate([...oids].flatMap((oid) => byOid.get(oid) ?? []));
      const queue = batch.values();
      const worker = async () => {
        for (const { path, pointer } of queue) {
          const location = locations.get(pointer.oid);
          if (!location)
            throw new Error(`the server did not return a location for the large file ${path}. Run git lfs push --all`);
          await client.download(location, pointer, join(checkout.folder, path));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
    }
  }
}

/** Returns the commit's pointers to which .gitattributes applies the LFS filter. */
async function largeFiles({ gitDir, folder, commit, config }: Checkout): Promise<LargeFile[]> {
  const git = ['--git-dir', gitDir, '--work-tree', folder];
  const small = entriesOf(await runGit([...git, 'ls-tree', '-r', '-z', '-l', commit], config)).flatMap((entry) => {
    const [, size, path] = /^100\d+ blob [0-9a-f]+ +(\d+)\t(.*)$/s.exec(entry) ?? [];
    return path !== undefined && Number(size) <= MAX_POINTER ? [path] : [];
  });
  const input = small.map((path) => `${path}\0`).join('');
  const attributes = entriesOf(
    await runGit(['-C', folder, ...git, 'check-attr', '-z', '--stdin', 'filter'], config, input),
  );
  const found: LargeFile[] = [];
  for (let at = 0; at + 2 < attributes.length; at += 3) {
    const [path = '', , value] = attributes.slice(at, at + 3);
    if (value !== 'lfs') continue;
    const pointer = parsePointer(await readFile(join(folder, path), 'utf8'));
    if (pointer) found.push({ path, pointer });
  }
  return found;
}
