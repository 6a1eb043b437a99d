import { beforeEach, expect, test } from '@jest/globals';
import { FileUnreadableError } from '../../../service-file/files.ts';
import { Blobs } from './blobs.ts';
import { KnownBlobs } from './known-blobs.ts';

let processes: string[];
let contents: Map<string, Buffer>;
let blobs: Blobs;
let known: KnownBlobs;

const origin = 'https://git.example.com/shop.git';
const ofAcme = { tenant: 'alice', group: 'acme' };
const blobsOf = (of: Parameters<KnownBlobs['of']>[0]) => new Blobs({ run: fakeGit }, known.of(of));

/** A git with these blobs by ID, which records each process. */
function fakeGit(args: readonly string[], input = ''): Promise<Buffer> {
  const [, , command = '', option] = args;
  processes.push(
    command === 'cat-file' ? `cat-file ${option}` : `${command} ${args.slice(args.indexOf('origin') + 1).join()}`,
  );
  if (command === 'fetch') return Promise.resolve(Buffer.alloc(0));
  const parts = input
    .split('\n')
    .filter(Boolean)
    .flatMap((id) => {
      const content = contents.get(id);
      if (content === undefined) return [Buffer.from(`${id} missing\n`)];
      const head = Buffer.from(`${id} blob ${content.length}\n`);
      return option === '--batch' ? [head, content, Buffer.from('\n')] : [head];
    });
  return Promise.resolve(Buffer.concat(parts));
}

beforeEach(() => {
  processes = [];
  contents = new Map();
  known = new KnownBlobs();
  blobs = blobsOf({ origin, flowOwner: ofAcme });
});

const fill = (count: number, size: number) => {
  const ids = Array.from({ length: count }, (_, index) => `id${index}`);
  for (const id of ids) contents.set(id, Buffer.alloc(size, `${id}\n`));
  return ids;
};

test('reads a hundred blobs with three processes, and again with none', async () => {
  const ids = fill(100, 20);
  await blobs.prefetch(ids);
  for (const id of [...ids, ...ids]) expect(await blobs.read(id)).toEqual(contents.get(id));
  expect(processes).toEqual([`fetch ${ids.join()}`, 'cat-file --batch-check', 'cat-file --batch']);
});

test('reads a blob that is requested a hundred times once, empty or not', async () => {
  contents.set('a', Buffer.from('1\n2')).set('e', Buffer.alloc(0));
  for (let time = 0; time < 100; time++) {
    expect((await blobs.read('a')).toString()).toBe('1\n2');
    expect(await blobs.read('e')).toHaveLength(0);
  }
  expect(processes).toHaveLength(6);
});

test('does not read a too large blob, however often it is requested', async () => {
  contents.set('big', Buffer.alloc(1024 * 1024 + 1)).set('a', Buffer.from('a'));
  await blobs.prefetch(['big', 'a']);
  for (let time = 0; time < 10; time++) await expect(blobs.read('big')).rejects.toThrow(/larger than 1024 KiB/);
  expect((await blobs.read('a')).toString()).toBe('a');
  expect(processes).toHaveLength(3);
});

test('limits the bytes of a commit', async () => {
  const ids = fill(9, 1024 * 1024);
  for (const id of ids.slice(0, 8)) expect(await blobs.read(id)).toHaveLength(1024 * 1024);
  await expect(blobs.read('id8')).rejects.toThrow(FileUnreadableError);
});

test('limits the files of a commit, and starts no process for the rest', async () => {
  const ids = fill(1002, 1);
  await blobs.prefetch(ids);
  processes = [];
  expect(await blobs.read('id999')).toHaveLength(1);
  for (const id of ['id1000', 'id1001', 'id1001'])
    await expect(blobs.read(id)).rejects.toThrow(/exceed the limit of 1000 files/);
  expect(processes).toEqual([]);
});

test('does not report an unknown blob as an error of the author', async () => {
  await expect(blobs.read('gone')).rejects.toThrow(/does not know the blob gone/);
});

test('reuses blobs of other commits of the origin, and counts them as before', async () => {
  const ids = fill(3, 60_000);
  await blobs.prefetch(ids.slice(0, 2));
  processes = [];
  const next = blobsOf({ origin, flowOwner: ofAcme });
  await next.prefetch(ids.slice(0, 2));
  expect(await next.read('id1')).toEqual(contents.get('id1'));
  expect(processes).toEqual([]);
  await next.prefetch(ids);
  expect(processes).toEqual(['fetch id2', 'cat-file --batch-check', 'cat-file --batch']);
});

test('counts bytes in memory like bytes that are read', async () => {
  const ids = fill(1000, 64 * 1024);
  for (const half of [ids.slice(0, 100), ids.slice(100, 200)]) {
    await blobsOf({ origin, flowOwner: ofAcme }).prefetch(half);
  }
  const next = blobsOf({ origin, flowOwner: ofAcme });
  await next.prefetch(ids.slice(0, 200));
  expect(await next.read('id127')).toHaveLength(64 * 1024);
  await expect(next.read('id128')).rejects.toThrow(/exceed the limit of 8192 KiB/);
});

test.each([
  ['another group', { origin, flowOwner: { tenant: 'alice', group: 'rivals' } }],
  ['another origin', { origin: 'https://git.example.com/other.git', flowOwner: ofAcme }],
])('reads cached blobs again for %s', async (_who, other) => {
  contents.set('a', Buffer.from('secret'));
  await blobs.read('a');
  contents.delete('a');
  await expect(blobsOf(other).read('a')).rejects.toThrow(/does not know the blob a/);
});

test('keeps no more than the bytes of a blob', async () => {
  contents.set('small', Buffer.from('services: {}'));
  const bytes = await blobs.read('small');
  expect(bytes.toString()).toBe('services: {}');
  expect(bytes.buffer.byteLength).toBe(bytes.length);
});

test('does not cache a large file, and limits the cache', async () => {
  contents.set('large', Buffer.alloc(64 * 1024 + 1));
  await blobs.read('large');
  const memory = known.of({ origin, flowOwner: ofAcme });
  expect(memory.get('large')).toBeUndefined();
  for (let index = 0; index < 300; index++) memory.set(`m${index}`, Buffer.alloc(64 * 1024));
  expect(memory.get('m299')).toHaveLength(64 * 1024);
  expect(memory.get('m0')).toBeUndefined();
});
