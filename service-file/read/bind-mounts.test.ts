import { expect, test } from '@jest/globals';
import { EXAMPLE_FACTS, OwnVariables } from '../own-variables.ts';
import { memoryFiles } from '../memory-files.ts';
import { readServiceFile } from '../parse.ts';

/** Reads a service with these volumes; counts `reads` and `prefetched` of files beside the service file. */
async function readCounted(volumes: readonly string[], files: Readonly<Record<string, string>>) {
  const text = `services:\n  web:\n    image: app\n    volumes: ${JSON.stringify(volumes)}\n`;
  const memory = memoryFiles({ ...files, 'compose.yaml': text });
  const reads: string[] = [];
  const prefetched: (readonly string[])[] = [];
  const { serviceFile, errors } = await readServiceFile({
    files: {
      ...memory,
      prefetch: (paths) => Promise.resolve(void prefetched.push(paths)),
      read: (path) => {
        if (path in files) reads.push(path);
        return memory.read(path);
      },
    },
    variables: new Map(),
    own: new OwnVariables(EXAMPLE_FACTS),
    settings: { mode: 'repo' },
  });
  return { reads, prefetched, mounts: serviceFile?.services[0]?.mounts ?? [], errors };
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const folder = (name: string, count: number) =>
  Object.fromEntries(range(count).map((index) => [`${name}/f${index}`, `${name} ${index}`]));

test('reads a folder that is mounted a hundred times once, with one request', async () => {
  const files = folder('d', 100);
  const { reads, prefetched, mounts, errors } = await readCounted(
    range(100).map((index) => `./d:/m${index}`),
    files,
  );
  expect(errors).toEqual([]);
  expect(mounts).toHaveLength(100);
  expect(new Set(mounts.map((mount) => mount.type === 'files' && mount.bundle)).size).toBe(1);
  expect(reads.sort()).toEqual(Object.keys(files).sort());
  expect(prefetched.map((paths) => paths.length)).toEqual([100]);
});

test('reports a folder that is too large once, without reading it', async () => {
  const { reads, prefetched, errors } = await readCounted(['./d:/a', './d:/b'], folder('d', 501));
  expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/has 501 files, too many/)]);
  expect([reads, prefetched]).toEqual([[], []]);
});

test('reads nothing more once the limit of mounts is exceeded', async () => {
  const names = range(50).map((index) => `d${index}`);
  const files = Object.assign({}, ...names.map((name) => folder(name, 300))) as Record<string, string>;
  const { reads, errors } = await readCounted([...names.map((name) => `./${name}:/${name}`), './d9/f1:/f1'], files);
  expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/more than 500 files or 900 KiB/)]);
  expect(reads).toHaveLength(600);
});
