import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { copiedPaths } from './app-image.ts';
import { repositoryRoot } from './paths.ts';
import { versions } from './versions.ts';

const read = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');
const letThrough = read('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

test('what a Dockerfile copies, of its context alone', () => {
  const text = 'FROM a AS b\nCOPY one two ./\nCOPY --from=b /c /c\nRUN echo COPY x y\nCOPY three three\n';
  expect([...copiedPaths(text)]).toEqual(['one', 'two', 'three']);
});

test.each(['Dockerfile', 'tester/Dockerfile'])(
  '%s copies what is there and what .dockerignore lets through',
  (file) => {
    const copied = [...copiedPaths(read(file))];
    expect(copied.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
    expect(copied.filter((path) => !letThrough.includes(path))).toEqual([]);
  },
);

test('.dockerignore lets nothing through that no image of ours copies', () => {
  const copied = new Set(['Dockerfile', 'tester/Dockerfile'].flatMap((file) => [...copiedPaths(read(file))]));
  expect(letThrough.filter((path) => !copied.has(path))).toEqual([]);
});

test('their base is pinned by digest, of the Node that the local cluster has', () => {
  const pinned = `node:${versions.node}-${versions.debian}-slim@sha256:`;
  const bases = ['Dockerfile', 'tester/Dockerfile'].map((file) => {
    const text = read(file);
    expect(text.match(/^FROM .*$/gm)).toEqual(['FROM ${NODE_IMAGE}']);
    return /^ARG NODE_IMAGE=(.*)$/m.exec(text)?.[1] ?? '';
  });
  expect(bases[0]?.startsWith(pinned)).toBe(true);
  expect(bases[0]?.slice(pinned.length)).toMatch(/^[0-9a-f]{64}$/);
  expect(bases[1]).toBe(bases[0]);
});
