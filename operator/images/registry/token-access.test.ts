import { describe, expect, test } from '@jest/globals';
import { createAuthority } from '../../../registry-tokens/authority.ts';
import type { CredentialKey } from '../../../registry-tokens/credential-keys.ts';
import { readCredential } from '../../../registry-tokens/credential.ts';
import { TokenSigner } from '../../../registry-tokens/token-signer.ts';
import { tokenAccess, type TokenAccessOptions } from './token-access.ts';

const start = new Date('2026-03-01T12:00:00Z');
const key: CredentialKey = { createdAt: start.getTime() / 1000 - 3600, key: Buffer.alloc(32, 1) };
const holder = { environmentUid: 'uid-1', repository: { group: 'acme', name: 'shop' } };

function access(options: Partial<TokenAccessOptions> = {}) {
  return tokenAccess({
    imageRegistry: { address: 'registry:5000', layout: 'nested' },
    deadlineSeconds: 1800,
    keys: () => [key],
    signer: () => {
      throw new Error('nobody asks for it');
    },
    watch: () => () => undefined,
    now: () => start,
    ...options,
  });
}

const claimsOf = (password: string | undefined) => readCredential(password ?? '', [key], start);

describe('a build', () => {
  test.each([
    ['trusted', 'registry:5000', 'nested', true, 'acme/shop/'],
    ['untrusted', 'registry:5000', 'nested', false, 'acme/shop/untrusted/'],
    ['trusted', 'registry:5000', 'flat', true, 'acme.shop.'],
    ['untrusted', 'registry:5000', 'flat', false, 'acme.shop.untrusted.'],
    ['trusted', 'harbor.example.com/coppice', 'nested', true, 'coppice/acme/shop/'],
    ['untrusted', 'harbor.example.com/coppice', 'flat', false, 'coppice/acme.shop.untrusted.'],
  ] as const)('that is %s, at %s, %s', (_what, address, layout, trusted, prefix) => {
    const credentials = access({ imageRegistry: { address, layout } }).forBuild({ ...holder, trusted });
    expect(credentials?.username).toBe('coppice');
    expect(claimsOf(credentials?.password)).toEqual({
      uid: 'uid-1',
      actions: 'push',
      prefix,
      expiresAt: start.getTime() / 1000 + 1800 + 600,
    });
  });
});

test('gives an environment credentials to pull from its repository, and requeues it when they are renewed', () => {
  const { credentials, renewAt } = access().forPulls(holder);
  expect(claimsOf(credentials?.password)).toMatchObject({ uid: 'uid-1', actions: 'pull', prefix: 'acme/shop/' });
  expect(renewAt?.getTime()).toBeGreaterThan(start.getTime());
});

test('gives no credentials without a key', () => {
  expect(() => access({ keys: () => [] }).forPulls(holder)).toThrow('there is no key');
});

test("signs tokens for the operator's own requests", async () => {
  const signer = new TokenSigner(await createAuthority(start), 'registry:5000');
  const { login } = access({ signer: () => signer });
  const token = 'token' in login ? await login.token('registry:catalog:*') : '';
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
  expect(claims).toMatchObject({ sub: 'operator', access: [{ type: 'registry', name: 'catalog', actions: ['*'] }] });
});
