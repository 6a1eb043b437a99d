import { expect, test } from '@jest/globals';
import type { FileKind, RepositoryFiles } from '../files.ts';
import { Problems } from '../problems.ts';
import { checkBuildFiles } from './build.ts';

const kinds: Record<string, FileKind> = {
  '': 'folder',
  Dockerfile: 'file',
  web: 'folder',
  'web/Dockerfile': 'file',
  'web/docker': 'folder',
  api: 'folder',
  link: 'symlink',
  'api/link': 'symlink',
  vendor: 'submodule',
};
const files = { kindOf: (path: string) => kinds[path] } as RepositoryFiles;
const at = { context: location('context'), dockerfile: location('dockerfile') };

function location(path: string) {
  return { file: 'compose.yaml', path, line: 1, column: 1 };
}

test.each([
  ['.', 'Dockerfile', []],
  ['web', 'Dockerfile', []],
  ['api', '../web/Dockerfile', []],
  ['vendor', 'Dockerfile', []],
  ['vendor/app', 'Dockerfile', []],
  ['api', '../vendor/Dockerfile', []],
  [
    'nothing',
    'Dockerfile',
    ['context: the context nothing is not in the repository: add this folder, or correct the path'],
  ],
  ['link', 'Dockerfile', ['context: the context link is a symbolic link, not a folder: name a folder']],
  ['Dockerfile', 'Dockerfile', ['context: the context Dockerfile is a file, not a folder: name a folder']],
  ['api', 'Dockerfile', [expect.stringMatching(/^dockerfile: there is no file api\/Dockerfile: add it/)]],
  ['api', 'link', ['dockerfile: api/link is a symbolic link, not a file: name a file']],
  ['web', 'docker', ['dockerfile: web/docker is a folder, not a file: name a file']],
])('checks %s with %s', (context, dockerfile, expected) => {
  const problems = new Problems();
  checkBuildFiles({ context, dockerfile }, at, { files, problems });
  expect(problems.errors.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected);
});

test('does not check files that are only partly available', () => {
  const problems = new Problems();
  checkBuildFiles({ context: 'nothing', dockerfile: 'Dockerfile' }, at, {
    files: { ...files, isPartial: true },
    problems,
  });
  expect(problems.hasErrors).toBe(false);
});
