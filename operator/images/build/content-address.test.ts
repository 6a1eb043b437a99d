import { describe, expect, test } from '@jest/globals';
import { contentAddress, imageTag, selectionId, type BuildInput } from './content-address.ts';

const hashKey = Buffer.from('key');
const input: BuildInput = {
  contextId: 'a1',
  dockerfile: 'Dockerfile',
  dockerfileId: 'd1',
  ignoreFileId: undefined,
  target: undefined,
  platform: undefined,
  args: { B: '2', A: '1' },
  secretIds: ['x', 'y'],
};

test('equal input, equal address, in whatever order arguments and secrets come', () => {
  const same = { ...input, args: { A: '1', B: '2' }, secretIds: ['y', 'x'] };
  expect(contentAddress(hashKey, same)).toBe(contentAddress(hashKey, input));
  expect(contentAddress(hashKey, input)).toMatch(/^[0-9a-f]{40}$/);
});

test.each<Partial<BuildInput>>([
  { contextId: 'a2' },
  { dockerfile: 'other' },
  { dockerfileId: 'd2' },
  { ignoreFileId: 'i1' },
  { target: 'production' },
  { platform: 'linux/arm64' },
  { args: { A: '1' } },
  { args: { A: '1', B: '3' } },
  { args: { 'A","1': '', B: '2' } },
  { secretIds: ['x'] },
])('%j changes it', (change) => {
  expect(contentAddress(hashKey, { ...input, ...change })).not.toBe(contentAddress(hashKey, input));
});

test('nobody can test guesses of an argument without the key', () => {
  expect(contentAddress(Buffer.from('other'), input)).not.toBe(contentAddress(hashKey, input));
});

test('a selection is reported by paths, contents and modes', () => {
  const file = { path: 'a', id: '1', isExecutable: false };
  const ids = [[file], [{ ...file, path: 'b' }], [{ ...file, id: '2' }], [{ ...file, isExecutable: true }], []];
  expect(new Set(ids.map(selectionId)).size).toBe(5);
});

describe('imageTag', () => {
  const image = { address: 'a1', bases: ['docker.io/library/node:24'] };
  const tag = (digest: string | undefined, buildId?: string, repositoryUid = 'r1') => {
    const digests = new Map(digest === undefined ? [] : [['docker.io/library/node:24', digest]]);
    return imageTag(image, { digests, repositoryUid, buildId });
  };

  test('a moved base image is another tag, an unknown one stands for itself', () => {
    expect(new Set([tag('sha256:1'), tag('sha256:2'), tag(undefined)]).size).toBe(3);
    expect(tag('sha256:1')).toBe(tag('sha256:1'));
  });

  test('a base image of another build is nothing to this one', () => {
    const digests = new Map([['docker.io/library/redis:7', 'sha256:9']]);
    expect(imageTag(image, { digests, repositoryUid: 'r1', buildId: undefined })).toBe(tag(undefined));
  });

  test('a Repository that comes after one of its name finds none of its images', () => {
    expect(tag('sha256:1', undefined, 'r2')).not.toBe(tag('sha256:1'));
    expect(tag('sha256:1', 'uid/2', 'r2')).not.toBe(tag('sha256:1', 'uid/2'));
  });

  test('a build without cache has a tag of its own, the same for each of its tries', () => {
    expect(tag('sha256:1', 'uid/2')).toBe(tag('sha256:1', 'uid/2'));
    expect(new Set([tag('sha256:1'), tag('sha256:1', 'uid/2'), tag('sha256:1', 'uid/3')]).size).toBe(3);
    expect(tag('sha256:1', 'uid/2')).toMatch(/^[0-9a-f]{40}-[0-9a-f]{12}$/);
  });
});
