import { describe, expect, test } from '@jest/globals';
import { MAX_VALIDITY, type CredentialKey } from './credential-keys.ts';
import { issueBuildCredential, issuePullCredential, readCredential, signCredential } from './credential.ts';

const createdAt = 1_700_000_000;
const key: CredentialKey = { createdAt, key: Buffer.alloc(32, 1) };
const at = (seconds: number) => new Date((createdAt + seconds) * 1000);
const day = 24 * 3600;
const claims = {
  uid: '0b8c1a52-6c5e-4f5a-9d53-0f7b0c6f8a11',
  expiresAt: createdAt + day,
  actions: 'push',
  prefix: 'acme/shop/',
} as const;
const credential = signCredential(claims, key);

test('reads back what it signed', () => {
  expect(readCredential(credential, [key], at(60))).toEqual(claims);
  expect(credential).toMatch(
    /^v1\.1700000000\.0b8c1a52-6c5e-4f5a-9d53-0f7b0c6f8a11\.1700086400\.push\.acme\/shop\/\.[\w-]{43}$/,
  );
});

test.each(['acme/shop/untrusted/', 'acme.shop.', 'acme.shop.untrusted.', 'coppice/acme/my-shop/'])(
  'reads the prefix %s',
  (prefix) => {
    expect(readCredential(signCredential({ ...claims, prefix }, key), [key], at(0))).toEqual({ ...claims, prefix });
  },
);

describe('refuses', () => {
  const other: CredentialKey = { createdAt, key: Buffer.alloc(32, 2) };
  test.each([
    ['another group', credential.replace('acme/shop/', 'acmf/shop/')],
    ['a shorter prefix', credential.replace('acme/shop/', 'acme/')],
    ['other actions', credential.replace('.push.', '.pull.')],
    ['a later expiry', credential.replace('1700086400', '1800086400')],
    ['another environment', credential.replace('0b8c1a52', '0b8c1a53')],
    ['another version', credential.replace(/^v1/, 'v2')],
    ['a key that is unknown', credential.replace('1700000000', '1700000001')],
    ['another signature', `${credential.slice(0, -2)}AA`],
    ['no signature', credential.slice(0, -44)],
    ['more after it', `${credential}A`],
    ['a line break', `${credential}\n`],
    ['nothing', ''],
    ['a prefix without a separator', signCredential({ ...claims, prefix: 'acme/shop' }, key)],
    ['a text without end', `v1.${'1'.repeat(100_000)}`],
    ['the signature of another key', signCredential(claims, other)],
  ])('%s', (_what, text) => {
    expect(readCredential(text, [key], at(60))).toBeUndefined();
  });

  test('an expired credential', () => {
    expect(readCredential(credential, [key], at(day - 1))).toBeDefined();
    expect(readCredential(credential, [key], at(day))).toBeUndefined();
  });

  test('a credential that a removed key signed', () => {
    expect(readCredential(credential, [], at(60))).toBeUndefined();
  });
});

describe('a credential for pulls', () => {
  const issue = (uid: string, seconds: number) =>
    issuePullCredential({ uid, prefix: 'acme/shop/' }, [key], at(seconds));

  test('stays the same until its renewal, and is valid for a week afterwards', () => {
    const first = issue('a', 0)!;
    const renewal = first.renewAt.getTime() / 1000 - createdAt;
    expect(renewal).toBeGreaterThan(0);
    expect(renewal).toBeLessThanOrEqual(7 * day);
    expect(issue('a', renewal - 1)).toEqual(first);
    const second = issue('a', renewal)!;
    expect(second.credential).not.toBe(first.credential);
    expect(second.renewAt).toEqual(at(renewal + 7 * day));
    expect(readCredential(first.credential, [key], at(renewal + 7 * day - 1))).toMatchObject({ actions: 'pull' });
    expect(readCredential(first.credential, [key], at(renewal + 7 * day))).toBeUndefined();
  });

  test('is renewed at a different time for another environment', () => {
    const times = Array.from({ length: 50 }, (_, index) => issue(`uid-${index}`, 0)!.renewAt.getTime());
    expect(new Set(times).size).toBe(50);
  });

  test('does not change when a key is added', () => {
    const next: CredentialKey = { createdAt: createdAt + day, key: Buffer.alloc(32, 3) };
    const first = issue('a', 0)!;
    const renewal = first.renewAt.getTime() / 1000 - createdAt;
    const later = (seconds: number) =>
      issuePullCredential({ uid: 'a', prefix: 'acme/shop/' }, [key, next], at(seconds))!;
    expect(later(renewal - 1)).toEqual(first);
    // What the former key signed is valid until that key is removed.
    expect(readCredential(first.credential, [key, next], at(renewal - 1))).toBeDefined();
  });

  test('requires a key', () => {
    expect(issuePullCredential({ uid: 'a', prefix: 'acme/shop/' }, [], at(0))).toBeUndefined();
  });
});

test('expires a credential for a build after its time, and after at most two weeks', () => {
  const expiryOf = (seconds: number) =>
    readCredential(issueBuildCredential({ uid: 'a', prefix: 'acme/shop/' }, seconds, [key], at(0)) ?? '', [key], at(0))
      ?.expiresAt;
  expect(expiryOf(1800)).toBe(createdAt + 1800);
  expect(expiryOf(10 ** 9)).toBe(createdAt + MAX_VALIDITY);
});
