import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Source } from './source.ts';
import { gitHttp } from './testing/git-http.ts';
import { sourceAt } from './testing/source-at.ts';

let folder = '';
/** IDs of the objects to which refs point. */
const made = { true: '', other: '', annotated: '', blob: '' };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-read-commit-'));
  execFileSync('git', ['init', '--quiet', '--bare', 'shop.git'], { cwd: folder });
  const tree = git('hash-object', '-t', 'tree', '-w', '/dev/null');
  made.true = git('commit-tree', '-m', 'true', tree);
  made.other = git('commit-tree', '-m', 'other', tree);
  git('tag', '-a', '-m', 'of the true one', 'made', made.true);
  made.annotated = git('rev-parse', 'refs/tags/made');
  made.blob = git('hash-object', '-t', 'blob', '-w', '/dev/null');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return execFileSync('git', ['-C', 'shop.git', ...identity, ...args], { cwd: folder, stdio: 'pipe' })
    .toString()
    .trim();
}

/** Returns what a Source reads of a ref in a repository with only these refs. */
async function read(refName: string, refs: Record<string, string>): Promise<string> {
  rmSync(join(folder, 'shop.git/refs'), { recursive: true });
  for (const [name, id] of Object.entries({ 'refs/heads/main': made.other, ...refs })) {
    mkdirSync(dirname(join(folder, 'shop.git', name)), { recursive: true });
    writeFileSync(join(folder, 'shop.git', name), `${id}\n`);
  }
  const reading = (source: Source, origin: string) =>
    source.snapshot({ access: { origin, credentials: undefined }, refName }, ({ commit }) => Promise.resolve(commit));
  const serve = gitHttp(() => folder);
  return sourceAt(folder, serve, reading);
}

const notFound = { name: 'SourceRefusedError', reason: 'RefNotFound' };

describe.each([
  ['branch', 'refs/heads/release', 'true'],
  ["branch of a shell's words", 'refs/heads/it\'s;$(x)&&`y`|"z"', 'true'],
  ['tag', 'refs/tags/v1', 'true'],
  ['annotated tag', 'refs/tags/v1', 'annotated'],
  ['pull request', 'refs/pull/7/head', 'true'],
] as const)('%s: it', (_what, ref, id) => {
  const [below, tag, branch] = [`refs/${ref}`, `refs/tags/${ref}`, `refs/heads/${ref}`];

  test('is read although similar names exist', async () => {
    const { other } = made;
    expect(await read(ref, { [ref]: made[id], [below]: other, [tag]: other, [branch]: other })).toBe(made.true);
  });

  test.each([below, tag, branch, `refs/remotes/${ref}/HEAD`])(
    'does not find the ref where only %s exists',
    async (standIn) => {
      await expect(read(ref, { [standIn]: made[id] })).rejects.toMatchObject(notFound);
      // git itself accepts this ref.
      git('fetch', '--quiet', '.', ref);
      expect(git('rev-parse', 'FETCH_HEAD^{commit}')).toBe(made.true);
    },
  );
});

test('finds no ref by a longer or shorter name, or one that is not a commit', async () => {
  const others = { 'refs/heads/releases': made.true, 'refs/heads/releas': made.true };
  const noCommit = { 'refs/tags/refs/heads/release': made.blob };
  await expect(read('refs/heads/release', { ...others, ...noCommit })).rejects.toMatchObject(notFound);
});
