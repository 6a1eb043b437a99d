import { beforeEach, expect, test } from '@jest/globals';
import { FileUnreadableError } from '../../service-file/files.ts';
import { Blobs } from './blobs.ts';

let processes: string[];
let contents: Map<string, Buffer>;
let blobs: Blobs;

/** A git that has these blobs by their ids, and says of each process what it was. */
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
  blobs = new Blobs({ run: fakeGit });
});

const fill = (count: number, size: number) => {
  const ids = Array.from({ length: count }, (_, index) => `id${index}`);
  for (const id of ids) contents.set(id, Buffer.alloc(size, `${id}\n`));
  return ids;
};

test('a hundred blobs cost three processes, and none when they are read again', async () => {
  const ids = fill(100, 20);
  await blobs.prefetch(ids);
  for (const id of [...ids, ...ids]) expect(await blobs.read(id)).toEqual(contents.get(id));
  expect(processes).toEqual([`fetch ${ids.join()}`, 'cat-file --batch-check', 'cat-file --batch']);
});

test('one that is read a hundred times is asked for once, empty or not', async () => {
  contents.set('a', Buffer.from('1\n2')).set('e', Buffer.alloc(0));
  for (let time = 0; time < 100; time++) {
    expect((await blobs.read('a')).toString()).toBe('1\n2');
    expect(await blobs.read('e')).toHaveLength(0);
  }
  expect(processes).toHaveLength(6);
});

test('what is too large is not read, however often it is asked for', async () => {
  contents.set('big', Buffer.alloc(1024 * 1024 + 1)).set('a', Buffer.from('a'));
  await blobs.prefetch(['big', 'a']);
  for (let time = 0; time < 10; time++) await expect(blobs.read('big')).rejects.toThrow(/larger than 1024 KiB/);
  expect((await blobs.read('a')).toString()).toBe('a');
  expect(processes).toHaveLength(3);
});

test('a commit has so many bytes', async () => {
  const ids = fill(9, 1024 * 1024);
  for (const id of ids.slice(0, 8)) expect(await blobs.read(id)).toHaveLength(1024 * 1024);
  await expect(blobs.read('id8')).rejects.toThrow(FileUnreadableError);
});

test('a commit has so many files, and the rest starts no process', async () => {
  const ids = fill(1002, 1);
  await blobs.prefetch(ids);
  processes = [];
  expect(await blobs.read('id999')).toHaveLength(1);
  for (const id of ['id1000', 'id1001', 'id1001']) await expect(blobs.read(id)).rejects.toThrow(/more than 1000 files/);
  expect(processes).toEqual([]);
});

test('a git that does not know the blob is no file of the author', async () => {
  await expect(blobs.read('gone')).rejects.toThrow(/does not know the blob gone/);
});
