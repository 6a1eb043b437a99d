import { describe, expect, test } from '@jest/globals';
import { FileUnreadableError } from '../../../service-file/files.ts';
import { SnapshotFiles } from './snapshot-files.ts';
import { parseTree } from './tree.ts';

const listing = [
  '040000 tree a\tdocker',
  '100755 blob b\tdocker/init.sh',
  '100644 blob c\tdocker/nginx.conf',
  '100644 blob f\tdocker-old/x',
  '100644 blob f1\tdocker.md',
  '100644 blob f2\tdocker0',
  '100644 blob d\tdockerfile',
  '120000 blob e\tlink',
];
const files = new SnapshotFiles(parseTree(`${listing.join('\0')}\0`, 'root'), (id) =>
  Promise.resolve(Buffer.from(`blob ${id}`)),
);

describe('SnapshotFiles', () => {
  test.each([
    ['', 'folder'],
    ['docker', 'folder'],
    ['docker/nginx.conf', 'file'],
    ['link', 'symlink'],
    ['link/passwd', undefined],
    ['nothing', undefined],
  ])('knows that %j is a %s', (path, kind) => {
    expect(files.kindOf(path)).toBe(kind);
  });

  test('lists what is below a folder, not what has the same prefix', () => {
    expect(files.filesBelow('docker')).toEqual(['docker/init.sh', 'docker/nginx.conf']);
    expect(files.filesBelow('docker-old')).toEqual(['docker-old/x']);
    expect(files.filesBelow('nothing')).toEqual([]);
    expect(files.filesBelow('')).toEqual([
      'docker-old/x',
      'docker.md',
      'docker/init.sh',
      'docker/nginx.conf',
      'docker0',
      'dockerfile',
    ]);
  });

  test('knows which files are executable', () => {
    expect([files.isExecutable('docker/init.sh'), files.isExecutable('dockerfile')]).toEqual([true, false]);
  });

  test('requests the blobs of files at once', async () => {
    const asked: (readonly string[])[] = [];
    const listed = parseTree(`${listing.join('\0')}\0`, 'root');
    const reading = new SnapshotFiles(
      listed,
      (id) => Promise.resolve(Buffer.from(id)),
      (ids) => Promise.resolve(void asked.push(ids)),
    );
    await reading.prefetch(['docker/init.sh', 'docker', 'link', 'dockerfile', 'nothing']);
    expect(asked).toEqual([['b', 'd']]);
  });

  test('reads only files', async () => {
    expect((await files.read('dockerfile')).toString()).toBe('blob d');
    for (const path of ['docker', 'link', 'nothing']) {
      await expect(files.read(path)).rejects.toThrow(FileUnreadableError);
    }
  });
});
