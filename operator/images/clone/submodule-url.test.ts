import { describe, expect, test } from '@jest/globals';
import { submoduleUrl } from './submodule-url.ts';

const parent = 'https://git.example.com:8443/acme/shop.git';

test.each([
  ['../lib.git', 'https://git.example.com:8443/acme/lib.git'],
  ['../../tools/lib', 'https://git.example.com:8443/tools/lib'],
  ['./nested', 'https://git.example.com:8443/acme/shop.git/nested'],
  ['../../../../../etc', 'https://git.example.com:8443/etc'],
  ['../\\\\evil.example.com/x', 'https://git.example.com:8443/acme///evil.example.com/x'],
  ['https://other.example.com/x.git', 'https://other.example.com/x.git'],
  ['git@git.example.com:acme/lib.git', 'https://git.example.com:8443/acme/lib.git'],
  ['git@other.example.com:acme/lib.git', 'https://other.example.com/acme/lib.git'],
  ['ssh://git@other.example.com:2222/acme/lib.git', 'https://other.example.com/acme/lib.git'],
])('%s', (url, expected) => {
  expect(submoduleUrl(url, parent)).toBe(expected);
});

describe('over SSH', () => {
  const url = 'ssh://git@git.example.com:2222/acme/shop.git';
  const scp = 'git@git.example.com:acme/shop.git';

  test.each([
    ['../lib.git', url, 'ssh://git@git.example.com:2222/acme/lib.git'],
    ['../../../../etc', url, 'ssh://git@git.example.com:2222/etc'],
    ['../lib.git', scp, 'git@git.example.com:acme/lib.git'],
    ['../../../../etc', scp, 'git@git.example.com:etc'],
    ['../lib.git', 'git@git.example.com:/srv/shop.git', 'git@git.example.com:/srv/lib.git'],
    ['git@git.example.com:tools/lib.git', scp, 'git@git.example.com:tools/lib.git'],
    ['ssh://git.example.com/tools/lib.git', scp, 'ssh://git@git.example.com/tools/lib.git'],
    // Another port, user or host is another server, which does not know the key.
    ['git@git.example.com:tools/lib.git', url, 'https://git.example.com/tools/lib.git'],
    ['root@git.example.com:tools/lib.git', scp, 'https://git.example.com/tools/lib.git'],
    ['git@other.example.com:acme/lib.git', scp, 'https://other.example.com/acme/lib.git'],
    ['https://git.example.com/acme/lib.git', scp, 'https://git.example.com/acme/lib.git'],
  ])('resolves %s of %s', (given, from, expected) => {
    expect(submoduleUrl(given, from)).toBe(expected);
  });

  test.each(['../-oProxyCommand=id/../../-u', '../x y', './a@b', 'file:///etc', 'ext::id', '-u./x', 'git@-host:x'])(
    'refuses %j',
    (given) => {
      expect(submoduleUrl(given, scp)).toBeUndefined();
    },
  );
});

test.each([
  'file:///etc',
  '/etc',
  'ext::sh -c id',
  'ext::id',
  '-u./x',
  '--upload-pack=touch x',
  'https://user:password@git.example.com/x',
  'git://git.example.com/x',
  'ftp://git.example.com/x',
  'ssh://-oProxyCommand=id/x y',
  'git@host:x y',
  '',
])('refuses %j', (url) => {
  expect(submoduleUrl(url, parent)).toBeUndefined();
});
