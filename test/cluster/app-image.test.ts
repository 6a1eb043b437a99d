import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { contextOf, copiedPaths, isCopied } from './app-image.ts';
import { repositoryRoot } from './paths.ts';
import { filesBelow } from './recipe.ts';
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

test.each([
  ['package.json', true],
  ['packages.json', false],
  ['package_json', false],
  ['server.ts', true],
  ['server.tsx', false],
  ['lib/server.ts', false],
  ['api/http/server.ts', true],
  ['apis/server.ts', false],
  ['hosts/kind.ts', true],
  ['hosts/deep/kind.ts', false],
])('%s is copied: %s', (file, expected) => {
  expect(isCopied(new Set(['package.json', '*.ts', 'api', 'hosts/*.ts']), file)).toBe(expected);
});

test.each([
  ['test/git-server', 'test/git-server', ['test/git-server']],
  ['test/git-hosts', 'test', ['test/git-server', 'test/git-hosts']],
])('the image of %s is known by every program in it, and by no test of one', (folder, context, programs) => {
  const { paths, counts } = contextOf(join(repositoryRoot, context), join(repositoryRoot, folder, 'Dockerfile'));
  const known = paths.flatMap(filesBelow).filter(counts);
  const expected = programs
    .flatMap((one) => filesBelow(join(repositoryRoot, one)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('/deploy.ts'));
  expect(expected.length).toBeGreaterThan(3);
  expect(known).toEqual(expect.arrayContaining(expected));
  expect(known.filter((file) => file.endsWith('.test.ts'))).toEqual([]);
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

test('the modules that the image compiles ahead are there', () => {
  const names = /\[([^\]]*)\]\.map\(\(name\) => import/.exec(read('Dockerfile'))?.[1]?.match(/[\w/-]+/g) ?? [];
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) expect([name, existsSync(join(repositoryRoot, `${name}.ts`))]).toEqual([name, true]);
});
