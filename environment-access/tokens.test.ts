import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { MAX_VALIDITY_SECONDS, newAccessKey, planKeyRotation, readAccessKeys, sealingKey } from './keys.ts';
import { sealAccess, openAccess, type AccessClaims } from './tokens.ts';

const at = 1_800_000_000;
const keysAt = (...times: number[]) =>
  readAccessKeys(Object.assign({}, ...times.map((time) => newAccessKey(time, randomBytes))));
const keys = keysAt(at - 3600);
const claims: AccessClaims = {
  use: 'host',
  host: 'shop-main--acme.env.example',
  environment: 'uid-1',
  grant: { kind: 'member', user: 'user-1', account: 'a1', session: 's1' },
  expiresAt: at + 60,
};

describe('a token', () => {
  const token = sealAccess(claims, keys, at);

  test('returns its claims until it expires', () => {
    expect(openAccess(token, keys, at)).toEqual(claims);
    expect(openAccess(token, keys, at + 59)).toEqual(claims);
    expect(openAccess(token, keys, at + 60)).toBeUndefined();
  });

  const [id = '', sealed = ''] = token.split('.');
  const changed = (at: number) => {
    const bytes = Buffer.from(sealed, 'base64url');
    bytes[at < 0 ? bytes.length + at : at] = (bytes.at(at) ?? 0) ^ 1;
    return `${id}.${bytes.toString('base64url')}`;
  };
  test.each([
    ['another nonce', changed(0)],
    ['another text', changed(20)],
    ['another tag', changed(-1)],
    ['the ID of another key', `1700000000.${sealed}`],
    ['no text', `${id}.`],
    ['only a nonce', `${id}.${sealed.slice(0, 16)}`],
    ['a shorter tag', `${id}.${sealed.slice(0, -4)}`],
    ['more text', `${token}.x`],
    ['too much text', `${token}${'A'.repeat(3000)}`],
    ['nothing', ''],
  ])('is refused with %s', (_what, text) => {
    expect(openAccess(text, keys, at)).toBeUndefined();
  });

  test('names nobody', () => {
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('user-1');
    expect(sealAccess(claims, keys, at)).not.toBe(token);
  });

  test('is refused without its key', () => {
    expect(openAccess(token, keysAt(at - 3600), at)).toBeUndefined();
    expect(openAccess(token, [], at)).toBeUndefined();
  });
});

test('is not made without a key, or for longer than keys are kept', () => {
  expect(() => sealAccess(claims, [], at)).toThrow('no key');
  expect(() => sealAccess({ ...claims, expiresAt: at + MAX_VALIDITY_SECONDS + 1 }, keys, at)).toThrow('outlive');
});

describe('keys', () => {
  test('are used once every replica knows them', () => {
    const rotated = keysAt(at - 7200, at - 599);
    expect(sealingKey(rotated, at)?.createdAt).toBe(at - 7200);
    expect(sealingKey(rotated, at + 1)?.createdAt).toBe(at - 599);
    expect(sealingKey(keysAt(at), at)?.createdAt).toBe(at);
  });

  test('are rotated each week, and removed after the last token of theirs', () => {
    const week = 7 * 24 * 3600;
    expect(planKeyRotation([], at)).toEqual({ add: true, remove: [] });
    expect(planKeyRotation(keysAt(at - week + 1), at)).toEqual({ add: false, remove: [] });
    expect(planKeyRotation(keysAt(at - week), at)).toEqual({ add: true, remove: [] });
    const successor = at - MAX_VALIDITY_SECONDS - 600;
    const old = keysAt(successor - week, successor);
    expect(planKeyRotation(old, at).remove).toEqual([old[0]]);
    expect(planKeyRotation(old, at - 1).remove).toEqual([]);
  });

  test('are read without what is not a key', () => {
    expect(readAccessKeys({ '1800000000': 'c2hvcnQ=', key: 'AAAA' })).toEqual([]);
    expect(readAccessKeys(undefined)).toEqual([]);
  });
});
