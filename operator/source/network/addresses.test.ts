import { describe, expect, test } from '@jest/globals';
import { addressGuard, pinOrigin } from './addresses.ts';
import { SourceRefusedError, SourceUnreachableError } from '../errors.ts';

describe('the address guard', () => {
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
    ['::10.96.0.1', false],
    ['::a60:1', false],
    ['::ffff:0:a60:1', false],
    ['fe80::1', false],
    ['fec0::1', false],
    ['fd00::1', false],
    ['64:ff9b::a00:1', false],
    ['64:ff9b:1::1', false],
    ['2002:7f00:1::', false],
    ['2001::1', false],
    ['168.63.129.16', false],
    ['168.63.129.17', true],
    ['192.88.99.1', false],
    ['192.0.2.1', false],
    ['198.51.100.1', false],
    ['203.0.113.1', false],
    ['100::1', false],
    ['5f00::1', false],
    ['2001:db8::1', false],
  ])('permits %s: %s', (address, expected) => {
    expect(isAllowed(address)).toBe(expected);
  });
});

describe('pinning an origin', () => {
  const rules = { isAddressAllowed: addressGuard([]), ports: [80, 443], sshPorts: [22] };
  const answering =
    (...addresses: string[]) =>
    () =>
      Promise.resolve(addresses.map((address) => ({ address })));

  test('takes the first address of a name with public ones only', async () => {
    const pinned = await pinOrigin('https://example.com/x.git', rules, answering('93.184.215.14', '93.184.215.15'));
    expect(pinned).toEqual({ origin: 'https://example.com/x.git', address: '93.184.215.14' });
  });

  test('refuses a name with any private address', async () => {
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
    'http://[::10.96.0.1]/',
    'http://[::ffff:0:a60:1]/',
    'http://[fec0::1]/',
    'ssh://git@127.0.0.1/x',
    'ssh://git@[::1]/x',
    'ssh://git@[::ffff:10.0.0.1]/x',
    'git@169.254.169.254:x',
  ])('refuses the address in %s without DNS', async (origin) => {
    await expect(pinOrigin(origin, rules, () => Promise.reject(new Error('asked')))).rejects.toThrow(
      SourceRefusedError,
    );
  });

  test.each([
    'http://example.com:6379/x',
    'https://example.com:80443/x',
    'http://[bad/x',
    'ssh://git@example.com:443/x',
  ])('refuses %s', async (origin) => {
    await expect(pinOrigin(origin, rules, answering('93.184.215.14'))).rejects.toThrow(SourceRefusedError);
  });

  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

  test.each(['web.env-a.svc.cluster.local', 'web.env-a.svc.k8s.example.com', 'web.env-a.svc', 'redis', 'redis.'])(
    'does not reveal whether %s exists',
    async (host) => {
      const there = await pinOrigin(`http://${host}/`, rules, answering('10.43.1.2')).catch(String);
      const missing = await pinOrigin(`http://${host}/`, rules, failing('ENOTFOUND')).catch(String);
      expect(there).toMatch(/SourceRefusedError.* private or reserved/);
      expect(missing).toBe(there);
      await expect(pinOrigin(`http://${host}/`, rules, failing('ETIMEOUT'))).rejects.toThrow(SourceUnreachableError);
    },
  );

  test('permits a retry for a name that does not resolve', async () => {
    await expect(pinOrigin('http://x.invalid/', rules, () => Promise.reject(new Error('ENOTFOUND')))).rejects.toThrow(
      SourceUnreachableError,
    );
    await expect(pinOrigin('http://x.invalid/', rules, answering())).rejects.toThrow(SourceUnreachableError);
  });
});
