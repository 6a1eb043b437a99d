import { describe, expect, test } from '@jest/globals';
import { contentAddress, imageTag, selectionId, type BuildInput } from './content-address.ts';

const hashKey = Buffer.from('key');
const input: BuildInput = {
  contextId: 'a1',
  dockerfile: 'Dockerfile',
  dockerfileId: 'd1',
  ignoreFileId: undefined,
  attributes: [],
  target: undefined,
  platform: undefined,
  args: { B: '2', A: '1' },
  secretIds: ['x', 'y'],
};

test('is the same for the same input, whatever the order of arguments and secrets', () => {
  const same = { ...input, args: { A: '1', B: '2' }, secretIds: ['y', 'x'] };
  expect(contentAddress(hashKey, same)).toBe(contentAddress(hashKey, input));
  expect(contentAddress(hashKey, input)).toMatch(/^[0-9a-f]{40}$/);
});

test.each<Partial<BuildInput>>([
  { contextId: 'a2' },
  { dockerfile: 'other' },
  { dockerfileId: 'd2' },
  { ignoreFileId: 'i1' },
  { attributes: ['a1'] },
  { target: 'production' },
  { platform: 'linux/arm64' },
  { args: { A: '1' } },
  { args: { A: '1', B: '3' } },
  { args: { 'A","1': '', B: '2' } },
  { secretIds: ['x'] },
])('changes with %j', (change) => {
  expect(contentAddress(hashKey, { ...input, ...change })).not.toBe(contentAddress(hashKey, input));
});

test('does not reveal an argument without the key', () => {
  expect(contentAddress(Buffer.from('other'), input)).not.toBe(contentAddress(hashKey, input));
});

test('covers the paths, contents and modes of selected files', () => {
  const file = { path: 'a', id: '1', isExecutable: false };
  const ids = [[file], [{ ...file, path: 'b' }], [{ ...file, id: '2' }], [{ ...file, isExecutable: true }], []];
  expect(new Set(ids.map(selectionId)).size).toBe(5);
});

describe('imageTag', () => {
  const image = { address: 'a1', bases: ['docker.io/library/node:24'] };
  const tag = (digest: string | undefined, separateFor?: string, repositoryUid = 'r1') => {
    const digests = new Map(digest === undefined ? [] : [['docker.io/library/node:24', digest]]);
    return imageTag(image, { digests, repositoryUid, separateFor });
  };

  test('changes with the digest of a base image; an unknown base image is represented by its name', () => {
    expect(new Set([tag('sha256:1'), tag('sha256:2'), tag(undefined)]).size).toBe(3);
    expect(tag('sha256:1')).toBe(tag('sha256:1'));
  });

  test('does not change with a base image of another build', () => {
    const digests = new Map([['docker.io/library/redis:7', 'sha256:9']]);
    expect(imageTag(image, { digests, repositoryUid: 'r1', separateFor: undefined })).toBe(tag(undefined));
  });

  test('differs for a Repository that is created again under the same name', () => {
    expect(tag('sha256:1', undefined, 'r2')).not.toBe(tag('sha256:1'));
    expect(tag('sha256:1', 'uid/2', 'r2')).not.toBe(tag('sha256:1', 'uid/2'));
  });

  test('is unique for a build without cache, and the same for each of its attempts', () => {
    expect(tag('sha256:1', 'uid/2')).toBe(tag('sha256:1', 'uid/2'));
    expect(new Set([tag('sha256:1'), tag('sha256:1', 'uid/2'), tag('sha256:1', 'uid/3')]).size).toBe(3);
    expect(tag('sha256:1', 'uid/2')).toMatch(/^[0-9a-f]{40}-[0-9a-f]{12}$/);
  });
});
