import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/run.ts';

/** An entry of the root: a file's text, a link's target, or a folder's files by name. */
export interface LiteralEntry {
  mode: '100644' | '120000' | '40000';
  name: string;
  content: string | Record<string, string>;
}

/** Pushes a commit to `branch` whose root has these entries in this order, which Git itself would never create. */
export async function pushLiteralTree(url: string, branch: string, entries: readonly LiteralEntry[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-push-'));
  const git = async (args: readonly string[], input?: string | Uint8Array) =>
    (await run('git', ['-C', folder, ...args], input === undefined ? {} : { input })).trim();
  const blob = (text: string) => git(['hash-object', '-w', '--stdin'], text);
  const idOf = async (content: LiteralEntry['content']) => {
    if (typeof content === 'string') return blob(content);
    const lines: string[] = [];
    for (const [name, text] of Object.entries(content)) lines.push(`100644 blob ${await blob(text)}\t${name}\n`);
    return git(['mktree'], lines.join(''));
  };
  try {
    await git(['init', '--quiet']);
    const parts: Buffer[] = [];
    for (const { mode, name, content } of entries) {
      parts.push(Buffer.from(`${mode} ${name}\0`), Buffer.from(await idOf(content), 'hex'));
    }
    const tree = await git(['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], Buffer.concat(parts));
    const author = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.com'];
    const commit = await git([...author, 'commit-tree', '-m', 'A tree of its own making', tree]);
    await git(['push', '--quiet', '--force', url, `${commit}:refs/heads/${branch}`]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
