import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  environmentHost,
  environmentLabel,
  environmentName,
  environmentNamespace,
  environmentUrl,
  slug,
} from './names.ts';
import { isResourceName } from './ids.ts';

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/);

describe('environmentLabel', () => {
  test.each([
    [{ group: 'acme', name: 'shop-main' }, 'shop-main--acme'],
    [{ group: 'acme', name: 'xn' }, /^xn-acme-[0-9a-f]{10}$/],
    [{ group: 'acme', name: 'a--b' }, /^a-b-acme-[0-9a-f]{10}$/],
    [{ group: 'g'.repeat(50), name: 'e'.repeat(50) }, /^e{48}-[0-9a-f]{10}$/],
  ])('%j', (id, expected) => {
    expect(environmentLabel(id)).toMatch(expected);
  });

  test('is a DNS label, also behind env-, and differs for different ids', () => {
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

  test('ids whose parts would join alike do not meet', () => {
    const labels = [
      { group: 'b-c', name: 'a' },
      { group: 'c', name: 'a-b' },
      { group: 'c', name: 'a--b' },
      { group: 'b--c', name: 'a' },
    ].map(environmentLabel);
    expect(new Set(labels).size).toBe(labels.length);
  });
});

test('environmentHost', () => {
  expect(environmentHost({ group: 'acme', name: 'shop-main' }, 'env.localhost')).toBe('shop-main--acme.env.localhost');
});

test.each([
  ['http://env.localhost:8080', 'http://shop-main--acme.env.localhost:8080/'],
  ['https://env.example.com', 'https://shop-main--acme.env.example.com/'],
])('environmentUrl below %s', (base, expected) => {
  expect(environmentUrl(new URL(base), { group: 'acme', name: 'shop-main' })).toBe(expected);
});

describe('environmentName', () => {
  test.each([
    ['main', 'branch', 'shop-main'],
    ['feature/Login', 'branch', /^shop-feature-login-[0-9a-f]{6}$/],
    ['feature-login', 'branch', 'shop-feature-login'],
    ['1.2', 'tag', /^shop-tag-1-2-[0-9a-f]{6}$/],
    ['12', 'pull request', /^shop-pr-12-[0-9a-f]{6}$/],
    ['日本', 'branch', /^shop-[0-9a-f]{6}$/],
  ] as const)('%s (%s)', (ref, type, expected) => {
    expect(environmentName('shop', { name: ref, type })).toMatch(expected);
  });

  test('is a resource name for any ref', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), (ref) => {
        expect(isResourceName(environmentName('shop', { name: ref, type: 'branch' }))).toBe(true);
      }),
    );
  });
});

test.each([
  ['Fix Login', 'fix-login'],
  ['--a__b--', 'a-b'],
  ['日本', ''],
])('slug(%j)', (text, expected) => {
  expect(slug(text)).toBe(expected);
});
