import { describe, expect, test } from '@jest/globals';
import { grantedAccess, type Holder } from './access.ts';
import { readScopes } from './scope.ts';

const expiresAt = 1_700_000_000;
const holder = (actions: 'pull' | 'push', prefix: string): Holder => ({
  claims: { uid: 'a', expiresAt, actions, prefix },
});
const build = holder('push', 'acme/shop/');
const forkBuild = holder('push', 'acme/shop/untrusted/');
const kubelet = holder('pull', 'acme/shop/');
const flatBuild = holder('push', 'acme.shop.');
const flatForkBuild = holder('push', 'acme.shop.untrusted.');
const flatKubelet = holder('pull', 'acme.shop.');
const deepBuild = holder('push', 'coppice/acme/shop/');

/** Returns the granted access as scopes. */
function granted(to: Holder, ...scopes: string[]): string[] {
  return grantedAccess(to, readScopes(scopes) ?? [], ['docker.io/']).map(
    ({ type, name, actions }) => `${type}:${name}:${actions.join(',')}`,
  );
}

describe('grants', () => {
  test.each<[string, Holder, string, string]>([
    ['a build its own images', build, 'repository:acme/shop/web:pull,push', 'pull,push'],
    ['a build its own images with a class', build, 'repository(plugin):acme/shop/web:pull,push', 'pull,push'],
    ['a fork its own folder', forkBuild, 'repository:acme/shop/untrusted/web:push,pull', 'push,pull'],
    ['a kubelet pulls', kubelet, 'repository:acme/shop/web:pull', 'pull'],
    ['a kubelet pulls of images that a fork has built', kubelet, 'repository:acme/shop/untrusted/web:pull', 'pull'],
    ['a kubelet no push', kubelet, 'repository:acme/shop/web:pull,push', 'pull'],
    ['a build everything that its credential permits', build, 'repository:acme/shop/web:*', 'pull,push'],
    ['a kubelet everything that its credential permits', kubelet, 'repository:acme/shop/web:*', 'pull'],
    ['nobody a deletion', build, 'repository:acme/shop/web:pull,delete', 'pull'],
    ['a flat build its own images', flatBuild, 'repository:acme.shop.web:pull,push', 'pull,push'],
    ['a flat fork its own folder', flatForkBuild, 'repository:acme.shop.untrusted.web:pull,push', 'pull,push'],
    ['a flat kubelet a fork’s', flatKubelet, 'repository:acme.shop.untrusted.web:pull', 'pull'],
    ['a build below a path', deepBuild, 'repository:coppice/acme/shop/web:push', 'push'],
    ['pulls from the mirror', forkBuild, 'repository:docker.io/library/node:pull', 'pull'],
    ['no push to the mirror', build, 'repository:docker.io/library/node:pull,push', 'pull'],
    ['the administrator all', 'administrator', 'repository:globex/shop/web:pull,push,delete', 'pull,push,delete'],
    ['the administrator the catalog', 'administrator', 'registry:catalog:*', '*'],
  ])('%s', (_what, to, scope, actions) => {
    expect(granted(to, scope)).toEqual([
      `${scope.replace('(plugin)', '').split(':').slice(0, -1).join(':')}:${actions}`,
    ]);
  });
});

describe('refuses', () => {
  test.each<[string, Holder, string]>([
    ['another group', build, 'repository:globex/shop/web:pull'],
    ['another group to a kubelet', kubelet, 'repository:globex/shop/web:pull'],
    ['another repository of the same group', build, 'repository:acme/blog/web:pull'],
    ['a repository whose name starts the same', build, 'repository:acme/shop2/web:pull'],
    ['the repository’s name itself', build, 'repository:acme/shop:pull,push'],
    ['a fork the trusted folder', forkBuild, 'repository:acme/shop/web:pull,push'],
    ['a trusted build a fork’s folder', build, 'repository:acme/shop/untrusted/web:pull,push'],
    ['a flat trusted build a fork’s', flatBuild, 'repository:acme.shop.untrusted.web:pull,push'],
    ['a flat fork the trusted ones', flatForkBuild, 'repository:acme.shop.web:pull,push'],
    ['a deeper path', build, 'repository:acme/shop/web/more:pull'],
    ['a path that leads upwards', build, 'repository:acme/shop/../../globex/shop/web:pull'],
    ['an empty component', build, 'repository:acme/shop//web:pull'],
    ['upper case', build, 'repository:acme/shop/WEB:pull'],
    ['a repository named like the mirror', build, 'repository:docker.io2/library/node:pull'],
    ['the mirror’s name itself', build, 'repository:docker.io:pull'],
    ['the catalog', build, 'registry:catalog:*'],
    ['another type', build, 'registry:acme/shop/web:pull'],
    ['a repository outside of the path', deepBuild, 'repository:acme/shop/web:pull'],
  ])('%s', (_what, to, scope) => {
    expect(granted(to, scope)).toEqual([]);
  });
});

test('grants a part of several scopes', () => {
  expect(granted(build, 'repository:acme/shop/web:pull,push repository:globex/shop/web:pull')).toEqual([
    'repository:acme/shop/web:pull,push',
  ]);
  expect(granted(build, 'repository:acme/shop/web:push', 'repository:docker.io/library/node:pull')).toEqual([
    'repository:acme/shop/web:push',
    'repository:docker.io/library/node:pull',
  ]);
});

describe('reads scopes', () => {
  test.each([
    ['repository:a/b:pull', [{ type: 'repository', name: 'a/b', actions: ['pull'] }]],
    ['repository:host:5000/a/b:pull,push', [{ type: 'repository', name: 'host:5000/a/b', actions: ['pull', 'push'] }]],
    ['repository:a:pull,pull', [{ type: 'repository', name: 'a', actions: ['pull'] }]],
    ['  repository:a:pull  ', [{ type: 'repository', name: 'a', actions: ['pull'] }]],
    ['repository:a', []],
    ['repository::pull', []],
    ['repository:a:', []],
    ['repository:a:pull,', []],
    ['a b c', []],
    ['', []],
  ])('%j', (text, scopes) => {
    expect(readScopes([text])).toEqual(scopes);
  });

  test.each([
    ['too many', Array.from({ length: 33 }, () => 'repository:a:pull')],
    ['too long ones', [`repository:${'a/'.repeat(2100)}a:pull`]],
  ])('does not read %s', (_what, texts) => {
    expect(readScopes(texts)).toBeUndefined();
  });
});
