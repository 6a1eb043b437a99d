import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { contextOf, copiedPaths, isCopied } from './app-image.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { filesBelow } from '../recipe.ts';
import { VERSIONS } from '../versions.ts';

const read = (file: string): string => readFileSync(join(REPOSITORY_ROOT, file), 'utf8');
const letThrough = read('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

test('finds what a Dockerfile copies from its context', () => {
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
])('reads the files copied by %s: %s', (file, expected) => {
  expect(isCopied(new Set(['package.json', '*.ts', 'api', 'hosts/*.ts']), file)).toBe(expected);
});

/** Returns the instructions of the layer with Debian's packages. */
function packagesOf(dockerfile: string): string | undefined {
  return /^ARG SOURCE_DATE_EPOCH\nRUN apt-get (?:.*\\\n)*.*$/m.exec(read(dockerfile).replaceAll(/^#.*\n/gm, ''))?.[0];
}

test.each(['test/git-server', 'test/git-hosts'])('shares the layer of packages between Coppice and %s', (folder) => {
  expect(packagesOf('Dockerfile')).toMatch(/tini/);
  expect(packagesOf(`${folder}/Dockerfile`)).toBe(packagesOf('Dockerfile'));
});

test.each([
  ['test/git-server', 'test/git-server', ['test/git-server']],
  ['test/git-hosts', 'test', ['test/git-server', 'test/git-hosts']],
])('identifies the image of %s by every program in it, and by no test', (folder, context, programs) => {
  const { paths, counts } = contextOf(join(REPOSITORY_ROOT, context), join(REPOSITORY_ROOT, folder, 'Dockerfile'));
  const known = paths.flatMap(filesBelow).filter(counts);
  const expected = programs
    .flatMap((one) => filesBelow(join(REPOSITORY_ROOT, one)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('/deploy.ts'));
  expect(expected.length).toBeGreaterThan(3);
  expect(known).toEqual(expect.arrayContaining(expected));
  expect(known.filter((file) => file.endsWith('.test.ts'))).toEqual([]);
});

test.each(['Dockerfile', 'tester/Dockerfile'])('copies in %s what exists and .dockerignore includes', (file) => {
  const copied = [...copiedPaths(read(file))];
  expect(copied.filter((path) => !existsSync(join(REPOSITORY_ROOT, path)))).toEqual([]);
  expect(copied.filter((path) => !isCopied(new Set(letThrough), path))).toEqual([]);
});

test('includes in .dockerignore only what an image copies', () => {
  const copied = new Set(['Dockerfile', 'tester/Dockerfile'].flatMap((file) => [...copiedPaths(read(file))]));
  expect(letThrough.filter((path) => !copied.has(path))).toEqual([]);
});

test("pins the base by digest, with the local cluster's version of Node", () => {
  const pinned = `node:${VERSIONS.node}-${VERSIONS.debian}-slim@sha256:`;
  const bases = ['Dockerfile', 'tester/Dockerfile'].map((file) => {
    const text = read(file);
    expect([...new Set(text.match(/^FROM \S+/gm))]).toEqual(['FROM ${NODE_IMAGE}']);
    return /^ARG NODE_IMAGE=(.*)$/m.exec(text)?.[1] ?? '';
  });
  expect(bases[0]?.startsWith(pinned)).toBe(true);
  expect(bases[0]?.slice(pinned.length)).toMatch(/^[0-9a-f]{64}$/);
  expect(bases[1]).toBe(bases[0]);
});

test('precompiles what its programs import, which exist', () => {
  const programs = /const program of \[([^\]]*)\]/.exec(read('Dockerfile'))?.[1]?.match(/[\w/-]+/g) ?? [];
  expect(programs).toEqual(expect.arrayContaining(['operator/main', 'api/main', 'registry-tokens/main', 'waker/main']));
  for (const name of programs) expect([name, existsSync(join(REPOSITORY_ROOT, `${name}.ts`))]).toEqual([name, true]);
});
