import { describe, expect, test } from '@jest/globals';
import { mergeAuths, readDockerConfig, writeDockerConfig } from './docker-config.ts';

const auth = (text: string) => ({ auth: Buffer.from(text).toString('base64') });
const me = { username: 'me', password: 'a:b' };

describe('readDockerConfig', () => {
  test.each([
    ['ghcr.io', 'ghcr.io'],
    ['https://ghcr.io', 'ghcr.io'],
    ['https://ghcr.io/v2/', 'ghcr.io'],
    ['https://index.docker.io/v1/', 'docker.io'],
    ['registry-1.docker.io', 'docker.io'],
    ['R.example.com:5000', 'r.example.com:5000'],
  ])('reads %s as %s', (key, registry) => {
    expect(readDockerConfig(JSON.stringify({ auths: { [key]: auth('me:a:b') } }))).toEqual(new Map([[registry, me]]));
  });

  test('reads names and passwords, and omits entries with neither', () => {
    const text = JSON.stringify({ auths: { a: me, b: {}, c: auth('no colon') }, credsStore: 'desktop' });
    expect(readDockerConfig(text)).toEqual(new Map([['a', me]]));
  });

  test.each(['', 'no json', '[]', '{"auths": 1}'])('refuses %j', (text) => {
    expect(readDockerConfig(text)).toBeUndefined();
  });
});

test('prefers the earlier of two credentials for one registry', () => {
  const first = new Map([['a', me]]);
  const second = new Map([
    ['a', { username: 'x', password: 'y' }],
    ['b', me],
  ]);
  expect(mergeAuths([first, second])).toEqual(
    new Map([
      ['a', me],
      ['b', me],
    ]),
  );
});

test('reads back what it writes, with Docker Hub under the key that its tools use', () => {
  const auths = new Map([
    ['docker.io', me],
    ['ghcr.io', me],
  ]);
  const text = writeDockerConfig(auths);
  expect(readDockerConfig(text)).toEqual(auths);
  expect(Object.keys((JSON.parse(text) as { auths: object }).auths)).toEqual([
    'https://index.docker.io/v1/',
    'ghcr.io',
  ]);
});
