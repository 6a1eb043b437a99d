import { describe, expect, it, test } from '@jest/globals';
import fc from '../test/properties.ts';
import {
  environmentAliasHost,
  environmentAliasUrl,
  environmentHost,
  environmentLabel,
  environmentNamespace,
  environmentUrl,
} from './environment-address.ts';
import { environmentName, environmentNameBeside } from './environment-name.ts';
import { groupOfImage, imagePrefix, imageRepository } from './image-name.ts';
import { hashedName, nameHash, slug } from './names.ts';
import { gitRefKey } from './git-ref.ts';
import { isResourceName } from './ids.ts';

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/);

describe('nameHash', () => {
  it('has 80 bits, each of which differs between texts', () => {
    const hashes = Array.from({ length: 400 }, (_, number) => nameHash(`text ${number}`));
    expect(new Set(hashes).size).toBe(hashes.length);
    for (let at = 0; at < 16; at += 1) expect(new Set(hashes.map((hash) => hash[at])).size).toBe(32);
    for (const hash of hashes) expect(hash).toMatch(/^[a-z2-7]{16}$/);
  });

  it('follows as much of the text as fits', () => {
    const readable = 'a'.repeat(60);
    expect(hashedName(readable, 'one', 59)).toHaveLength(59);
    expect(hashedName(readable, 'one', 59)).not.toBe(hashedName(readable, 'other', 59));
    expect(hashedName('', 'one', 59)).toBe(nameHash('one'));
  });
});

describe('environmentLabel', () => {
  test.each([
    [{ group: 'acme', name: 'shop-main' }, 'shop-main--acme'],
    [{ group: 'acme', name: 'xn' }, /^xn-acme-[a-z2-7]{16}$/],
    [{ group: 'acme', name: 'a--b' }, /^a-b-acme-[a-z2-7]{16}$/],
    [{ group: 'g'.repeat(50), name: 'e'.repeat(50) }, /^e{42}-[a-z2-7]{16}$/],
  ])('%j', (id, expected) => {
    expect(environmentLabel(id)).toMatch(expected);
  });

  test('is a DNS label, also after env-, and differs for different IDs', () => {
    fc.assert(
      fc.property(name, name, name, name, (group, resource, otherGroup, otherResource) => {
        const id = { group, name: resource };
        const other = { group: otherGroup, name: otherResource };
        expect(isResourceName(environmentNamespace(id))).toBe(true);
        const same = group === otherGroup && resource === otherResource;
        expect(environmentLabel(id) === environmentLabel(other)).toBe(same);
      }),
    );
  });

  test('differs for IDs whose joined parts are equal', () => {
    const labels = [
      { group: 'b-c', name: 'a' },
      { group: 'c', name: 'a-b' },
      { group: 'c', name: 'a--b' },
      { group: 'b--c', name: 'a' },
    ].map(environmentLabel);
    expect(new Set(labels).size).toBe(labels.length);
  });
});

test('returns the host of an environment', () => {
  expect(environmentHost({ group: 'acme', name: 'shop-main' }, 'env.localhost')).toBe('shop-main--acme.env.localhost');
});

describe('environmentAliasHost', () => {
  const id = { group: 'acme', name: 'shop-main' };
  test.each([
    ['admin', id, 'admin---shop-main--acme.env.localhost'],
    ['a1', id, /^alias-a1---[a-z2-7]{16}\.env\.localhost$/],
    ['Admin Panel', id, /^alias-admin-panel---[a-z2-7]{16}\.env\.localhost$/],
    ['admin', { group: 'g'.repeat(50), name: 'long-name' }, /^alias-admin---[a-z2-7]{16}\.env\.localhost$/],
  ])('%s of %j', (alias, of, expected) => {
    expect(environmentAliasHost(of, alias, 'env.localhost')).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
  });

  // What an attacker would try: names of groups and environments that contain another's separator.
  const cunning = fc.constantFrom('shop', 'admin', 'xn', 'a', 'a--b', 'admin---shop', 'shop-acme', 'alias-admin');
  const part = fc.oneof(name, cunning);

  test('is one DNS label, and never the host or an alias of another environment', () => {
    fc.assert(
      fc.property(part, part, part, part, part, part, (group, resource, alias, otherGroup, otherResource, other) => {
        const domain = 'd';
        const mine = environmentAliasHost({ group, name: resource }, alias, domain);
        const otherId = { group: otherGroup, name: otherResource };
        expect(mine).toMatch(/^(?!..--)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.d$/);
        expect(mine).not.toBe(environmentHost(otherId, domain));
        expect(mine).not.toBe(environmentHost({ group, name: resource }, domain));
        const same = group === otherGroup && resource === otherResource && alias === other;
        expect(mine === environmentAliasHost(otherId, other, domain)).toBe(same);
      }),
      { numRuns: 2000 },
    );
  });

  test('cannot end in a label that looks like the hash or contains the separator', () => {
    fc.assert(
      fc.property(part, part, (group, resource) => {
        const label = environmentHost({ group, name: resource }, 'd').split('.')[0] ?? '';
        expect(label).not.toContain('---');
        expect(label).not.toMatch(/^[a-z2-7]{16}$/);
      }),
    );
  });

  test('is in the same domain as the environment', () => {
    const url = environmentAliasUrl(new URL('http://env.localhost:8080'), id, 'admin');
    expect(url).toBe('http://admin---shop-main--acme.env.localhost:8080/');
  });
});

test.each([
  ['http://env.localhost:8080', 'http://shop-main--acme.env.localhost:8080/'],
  ['https://env.example.com', 'https://shop-main--acme.env.example.com/'],
])('returns the URL of an environment below %s', (base, expected) => {
  expect(environmentUrl(new URL(base), { group: 'acme', name: 'shop-main' })).toBe(expected);
});

describe('environmentName', () => {
  test.each([
    ['main', 'branch', 'shop-main'],
    ['feature/Login', 'branch', /^shop-feature-login-[a-z2-7]{16}$/],
    ['feature-login', 'branch', 'shop-feature-login'],
    ['1.2', 'tag', /^shop-tag-1-2-[a-z2-7]{16}$/],
    ['12', 'pull request', /^shop-pr-12-[a-z2-7]{16}$/],
    ['日本', 'branch', /^shop-[a-z2-7]{16}$/],
  ] as const)('%s (%s)', (ref, type, expected) => {
    expect(environmentName('shop', { name: ref, type })).toMatch(expected);
  });
});

describe.each(['nested', 'flat'] as const)('images in a registry that is %s', (layout) => {
  const registry = { address: 'r.example.com/path', layout };
  const service = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);
  const below = (image: string) => image.slice(registry.address.length + 1);

  test('belong to one repository, service and trust, and contain their group', () => {
    const one = fc.tuple(name, name, fc.oneof(service, fc.constant('untrusted')), fc.boolean());
    fc.assert(
      fc.property(one, one, (mine, other) => {
        const of = ([group, called, its, trusted]: typeof mine) =>
          imageRepository(registry, { group, name: called }, its, trusted);
        expect(of(mine) === of(other)).toBe(JSON.stringify(mine) === JSON.stringify(other));
        expect(groupOfImage(registry, below(of(mine)))).toBe(mine[0]);
        const prefix = imagePrefix(registry, { group: other[0], name: other[1] }, true);
        expect(of(mine).startsWith(prefix)).toBe(mine[0] === other[0] && mine[1] === other[1]);
      }),
    );
  });

  test('of others have no group', () => {
    expect(groupOfImage(registry, 'tool')).toBeUndefined();
    expect(groupOfImage(registry, 'docker.io/library/a/b/c/d.e.f.g.h')).toBeUndefined();
  });
});

test.each([
  ['nested', 'r/acme/shop/untrusted/web'],
  ['flat', 'r/acme.shop.untrusted.web'],
] as const)('names what a fork builds, %s', (layout, expected) => {
  expect(imageRepository({ address: 'r', layout }, { group: 'acme', name: 'shop' }, 'web', false)).toBe(expected);
});

/** Refs as people and machines name them, and as somebody would who wants two of them to collide. */
describe('for any ref', () => {
  const repository = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/);
  const long = fc.string({ minLength: 40, maxLength: 200, unit: fc.constantFrom('a', 'B', '-', '/', '.', '_', '1') });
  const refName = fc.oneof(
    fc.string({ minLength: 1, maxLength: 250, unit: 'grapheme' }),
    fc.string({ minLength: 1, maxLength: 250, unit: 'binary' }),
    fc.string({
      minLength: 1,
      maxLength: 20,
      unit: fc.constantFrom('a', 'A', 'ä', 'é', '/', '.', '-', '--', '_', '🌱'),
    }),
    long,
    fc.constantFrom(
      'main',
      'feature/login',
      'feature-login',
      'Feature/Login',
      'tag-1',
      'pr-1',
      '1',
      'v1.0',
      'a'.repeat(250),
    ),
  );
  const ref = fc.record({ name: refName, type: fc.constantFrom('branch', 'tag', 'pull request') });

  test('has valid, stable names, hosts, namespaces and images with labels of at most 63 characters', () => {
    fc.assert(
      fc.property(repository, ref, name, (of, wanted, group) => {
        for (const made of [environmentName(of, wanted), environmentNameBeside(of, wanted)]) {
          // A second environment of a ref gets a dash and five more characters.
          expect(isResourceName(`${made}-abcde`)).toBe(true);
          const id = { group, name: made };
          expect(isResourceName(environmentNamespace(id))).toBe(true);
          const host = new URL(environmentUrl(new URL('http://env.example'), id)).host;
          expect(host).toMatch(/^(?!..--)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.env\.example$/);
          expect(host).toBe(environmentHost(id, 'env.example'));
          expect(environmentName(of, { ...wanted })).toBe(environmentName(of, wanted));
        }
        for (const [layout, trusted] of [
          ['nested', true],
          ['nested', false],
          ['flat', true],
          ['flat', false],
        ] as const) {
          const image = imageRepository({ address: 'r', layout }, { group, name: of }, 'web', trusted);
          // The reference grammar of registries (distribution).
          expect(image).toMatch(/^r(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+$/);
          expect(image.length).toBeLessThan(256);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('has another name than any other ref, however similar', () => {
    const pair = fc.oneof(
      fc.tuple(ref, ref),
      fc.tuple(long, fc.constantFrom('a', 'b', 'B'), fc.constantFrom('c', '/', 'C')).map(([start, one, other]) => [
        { name: start + one, type: 'branch' as const },
        { name: start + other, type: 'branch' as const },
      ]),
      ref.map(({ name: called, type }) => [
        { name: called, type },
        { name: called.toUpperCase(), type },
      ]),
    );
    fc.assert(
      fc.property(repository, pair, (of, [one, other]) => {
        if (gitRefKey(one) === gitRefKey(other)) return;
        expect(environmentName(of, one)).not.toBe(environmentName(of, other));
      }),
      { numRuns: 300 },
    );
  });

  test('has a second name of its own where two repositories would share one', () => {
    const ofShop = { name: 'b-c', type: 'branch' } as const;
    const ofShopB = { name: 'c', type: 'branch' } as const;
    expect(environmentName('a', ofShop)).toBe(environmentName('a-b', ofShopB));
    expect(environmentNameBeside('a', ofShop)).not.toBe(environmentNameBeside('a-b', ofShopB));
  });
});

test.each([
  ['Fix Login', 'fix-login'],
  ['--a__b--', 'a-b'],
  ['日本', ''],
])('shortens %j to a slug', (text, expected) => {
  expect(slug(text)).toBe(expected);
});
