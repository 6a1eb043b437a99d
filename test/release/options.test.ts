import { describe, expect, test } from '@jest/globals';
import { readOptions, repositoryOf } from './options.ts';
import { uriOf } from './sources.ts';

const login = { REGISTRY_USERNAME: 'me', REGISTRY_PASSWORD: 'secret' };
const digest = `sha256:${'a'.repeat(64)}`;

test('reads where to push, and with which login', () => {
  const args = [
    '1.2.3',
    '--registry',
    'registry.example.com:5000/acme/coppice',
    '--platforms',
    'linux/amd64,linux/arm64',
  ];
  const options = readOptions(args, login);
  expect(options).toMatchObject({
    version: '1.2.3',
    isDryRun: false,
    platforms: ['linux/amd64', 'linux/arm64'],
    registry: {
      host: 'registry.example.com:5000',
      path: 'acme/coppice',
      insecure: false,
      credentials: { username: 'me', password: 'secret' },
    },
  });
  expect(options.registry && repositoryOf(options.registry, 'coppice')).toBe('acme/coppice/coppice');
});

test('pushes nothing in a dry run without a registry', () => {
  expect(readOptions(['1.2.3', '--dry-run'], login)).toMatchObject({ isDryRun: true, registry: undefined });
});

describe('refuses', () => {
  test.each([
    ['no version', ['--dry-run'], /Name one version/],
    ['a version of two numbers', ['1.2', '--dry-run'], /Name one version/],
    ['two versions', ['1.2.3', '1.2.4', '--dry-run'], /Name one version/],
    ['a release without a registry', ['1.2.3'], /needs a registry/],
    ['a registry with a scheme', ['1.2.3', '--registry', 'https://registry.example.com'], /HOST\[:PORT\]/],
    ['a registry in capital letters', ['1.2.3', '--registry', 'ghcr.io/Acme'], /in lower case/],
    ['another platform', ['1.2.3', '--dry-run', '--platforms', 'windows/amd64'], /only linux\/amd64/],
    ['a base image without a digest', ['1.2.3', '--dry-run', '--node-image', 'node:24'], /must name a digest/],
  ])('%s', (_what, args, message) => expect(() => readOptions(args, {})).toThrow(message));

  test('nothing of a base image with one', () => {
    const args = ['1.2.3', '--dry-run', '--node-image', `node:24@${digest}`];
    expect(readOptions(args, {}).nodeImage).toBe(`node:24@${digest}`);
  });
});

test.each([
  ['https://me:secret@git.example.com/acme/coppice.git', 'git+https://git.example.com/acme/coppice.git'],
  ['git@git.example.com:acme/coppice.git', 'git+ssh://git.example.com/acme/coppice.git'],
  ['ssh://git@git.example.com/acme/coppice.git', 'git+ssh://git.example.com/acme/coppice.git'],
  ['/home/me/coppice', 'git+file:coppice'],
  [undefined, 'git+file:coppice'],
])('names the source %s without a login', (remote, uri) => expect(uriOf(remote)).toBe(uri));
