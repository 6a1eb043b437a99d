import { describe, expect, test } from '@jest/globals';
import { addressGuard, pinOrigin } from './addresses.ts';
import { SourceRefusedError, SourceUnreachableError } from './errors.ts';

describe('addressGuard', () => {
  const isAllowed = addressGuard(['10.96.0.0/16']);
  test.each([
    ['140.82.121.4', true],
    ['2606:50c0:8000::153', true],
    ['10.96.3.4', true],
    ['::ffff:10.96.3.4', true],
    ['10.97.0.1', false],
    ['127.0.0.1', false],
    ['::1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:7f00:1', false],
    ['169.254.169.254', false],
    ['172.16.0.1', false],
    ['192.168.1.1', false],
    ['100.64.0.1', false],
    ['0.0.0.0', false],
    ['::', false],
    ['fe80::1', false],
    ['fd00::1', false],
    ['64:ff9b::a00:1', false],
    ['64:ff9b:1::1', false],
    ['2002:7f00:1::', false],
    ['2001::1', false],
  ])('%s is allowed: %s', (address, expected) => {
    expect(isAllowed(address)).toBe(expected);
  });
});

describe('pinOrigin', () => {
  const rules = { isAddressAllowed: addressGuard([]), ports: [80, 443] };
  const answering =
    (...addresses: string[]) =>
    () =>
      Promise.resolve(addresses.map((address) => ({ address })));

  test('takes the first address of a name that leads only to public ones', async () => {
    const pinned = await pinOrigin('https://example.com/x.git', rules, answering('93.184.215.14', '93.184.215.15'));
    expect(pinned).toEqual({ origin: 'https://example.com/x.git', address: '93.184.215.14' });
  });

  test('refuses a name of which any address is private', async () => {
    await expect(pinOrigin('https://example.com/', rules, answering('93.184.215.14', '10.0.0.1'))).rejects.toThrow(
      SourceRefusedError,
    );
  });

  test.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::ffff:10.0.0.1]/',
  ])('refuses the address in %s without asking anybody', async (origin) => {
    await expect(pinOrigin(origin, rules, () => Promise.reject(new Error('asked')))).rejects.toThrow(
      SourceRefusedError,
    );
  });

  test.each(['http://example.com:6379/x', 'https://example.com:80443/x', 'http://[bad/x'])(
    'refuses %s',
    async (origin) => {
      await expect(pinOrigin(origin, rules, answering('93.184.215.14'))).rejects.toThrow(SourceRefusedError);
    },
  );

  test('a name that does not resolve may do so later', async () => {
    await expect(pinOrigin('http://x.invalid/', rules, () => Promise.reject(new Error('ENOTFOUND')))).rejects.toThrow(
      SourceUnreachableError,
    );
    await expect(pinOrigin('http://x.invalid/', rules, answering())).rejects.toThrow(SourceUnreachableError);
  });
});
