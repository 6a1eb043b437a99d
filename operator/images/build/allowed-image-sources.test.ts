import { describe, expect, it } from '@jest/globals';
import { sourcePolicy, type PolicyRule } from './allowed-image-sources.ts';

const input = { registry: 'r:5000', ownImages: 'r:5000/g/r/', untrustedImages: 'r:5000/g/r/untrusted/' };
const digests = new Map([['docker.io/library/node:24', 'sha256:1']]);

type Attributes = Record<string, string>;

/**
 * Evaluates a policy like BuildKit's sourcepolicy/engine.go. Returns the identifier that is used; undefined if
 * denied.
 */
function evaluated(policy: string, identifier: string, attributes: Attributes = {}): string | undefined {
  const { rules } = JSON.parse(policy) as { rules: PolicyRule[] };
  let isDenied = false;
  for (const { action, selector, updates } of rules) {
    if (selector.constraints?.some(({ key, value }) => (attributes[key] ?? '') === value)) continue;
    const matches =
      selector.identifier === identifier ||
      (selector.match_type === 'REGEX' && new RegExp(selector.identifier).test(identifier));
    if (!matches) continue;
    if (action === 'CONVERT') return evaluated(policy, updates?.identifier ?? '', attributes);
    isDenied = action === 'DENY';
  }
  return isDenied ? undefined : identifier;
}

function isAllowed(
  identifier: string,
  given: Partial<typeof input & { trusted: boolean }> = {},
  attributes?: Attributes,
) {
  const policy = sourcePolicy({ ...input, trusted: true, digests, ...given });
  return evaluated(policy, identifier, attributes) !== undefined;
}

const digest = `sha256:${'0'.repeat(64)}`;

describe('a build', () => {
  it.each([
    'local://context',
    'local://dockerfile',
    'docker-image://docker.io/library/redis:7',
    `docker-image://ghcr.io/astral-sh/uv@${digest}`,
    'docker-image://r:5001/base:1',
    'git://github.com/acme/shop.git#main',
    'https://example.com/file.tar.gz',
    'http://example.com/file.tar.gz',
  ])('can read %s', (identifier) => {
    expect([isAllowed(identifier), isAllowed(identifier, { trusted: false })]).toEqual([true, true]);
  });

  it.each([
    `docker-image+blob://r:5000/other/shop/web@${digest}`,
    `docker-image+blob://r:5000/g/r/web@${digest}`,
    `docker-image+blob://docker.io/library/redis@${digest}`,
    `oci-layout://r:5000/other/shop/web@${digest}`,
    `oci-layout+blob://store/x@${digest}`,
    'a-scheme-of-tomorrow://r:5000/other/shop/web',
    'docker-image://r:5000/other/shop/web:1',
    'docker-image://R:5000/other/shop/web:1',
    'docker-image://r.:5000/other/shop/web:1',
    'docker-image://r:05000/other/shop/web:1',
    'docker-image://r:5000/g/r2/web:1',
    'docker-image://R:5000/g/r/web:1',
    'docker-image://user@r:5000/other/shop/web:1',
    'https://r:5000/v2/other/shop/web/manifests/1',
    'http://R:5000/v2/other/shop/web/manifests/1',
    'http://user:word@r:5000/v2/',
    'git://r:5000/x.git',
    'line\nbreak',
    '',
  ])('cannot read %j', (identifier) => {
    expect([isAllowed(identifier), isAllowed(identifier, { trusted: false })]).toEqual([false, false]);
  });

  it('cannot read a registry through a Git source', () => {
    const source = 'git://github.com/acme/shop.git';
    const bundle = { 'git.bundle': `docker-image+blob://r:5000/other/shop/web@${digest}` };
    expect([isAllowed(source, {}, bundle), isAllowed(source, {}, { 'git.checksum': 'c0ffee' })]).toEqual([false, true]);
  });

  it('uses base images at their resolved digests', () => {
    const policy = sourcePolicy({ ...input, trusted: true, digests });
    expect(evaluated(policy, 'docker-image://docker.io/library/node:24')).toBe(
      'docker-image://docker.io/library/node:24@sha256:1',
    );
  });
});

describe("of images in Coppice's registry", () => {
  it('can read images of its own repository if it is trusted, and none of forks', () => {
    expect(isAllowed('docker-image://r:5000/g/r/web:1')).toBe(true);
    expect(isAllowed('docker-image://r:5000/g/r/untrusted/web:1')).toBe(false);
  });

  it('can read only images of untrusted builds if it is not trusted', () => {
    expect(isAllowed('docker-image://r:5000/g/r/web:1', { trusted: false })).toBe(false);
    expect(isAllowed('docker-image://r:5000/g/r/untrusted/web:1', { trusted: false })).toBe(true);
  });
});

describe('with a registry at the default port', () => {
  const registry = 'registry.example.com';
  const given = { registry, ownImages: `${registry}/g/r/`, untrustedImages: `${registry}/g/r/untrusted/` };

  it.each(['registry.example.com', 'registry.example.com:443', 'Registry.example.com:80', 'registry.example.com.'])(
    'refuses %s',
    (host) => {
      expect(isAllowed(`docker-image://${host}/other/shop/web:1`, given)).toBe(false);
      expect(isAllowed(`docker-image://not-${host}/other/shop/web:1`, given)).toBe(true);
    },
  );
});

it.each(['docker.io', 'index.docker.io', 'registry-1.docker.io', 'Registry-1.docker.io:443'])(
  "cannot read images of other groups at Docker Hub's host %s",
  (host) => {
    const registry = 'docker.io/acme';
    const given = { registry, ownImages: `${registry}/g.r.`, untrustedImages: `${registry}/g.r.untrusted.` };
    expect(isAllowed(`docker-image://${host}/acme/other.shop.web:1`, given)).toBe(false);
    expect(isAllowed(`docker-image://${host}/library/redis:7`, given)).toBe(true);
  },
);

describe('with a registry below a path', () => {
  const registry = 'ghcr.io/acme/coppice';
  const given = { registry, ownImages: `${registry}/g/r/`, untrustedImages: `${registry}/g/r/untrusted/` };

  it.each([
    ['docker-image://ghcr.io/acme/coppice/g/r/web:1', true],
    ['docker-image://ghcr.io/acme/coppice/other/r/web:1', false],
    ['docker-image://GHCR.IO/acme/coppice/other/r/web:1', false],
    ['https://ghcr.io/v2/acme/coppice/other/r/web/manifests/1', false],
    ['docker-image://ghcr.io/astral-sh/uv:1', true],
  ])('reads %s: %s', (identifier, expected) => {
    expect(isAllowed(identifier, given)).toBe(expected);
  });
});
