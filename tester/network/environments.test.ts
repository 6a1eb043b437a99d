import { describe, expect, test } from '@jest/globals';
import { Environments, UNKNOWN_GROUP } from './environments.ts';

const local = new Environments('http://env.localhost:8080');
const secure = new Environments('https://env.example');

describe('the address of an environment', () => {
  test.each([
    ['http://shop-main--acme.env.localhost:8080/', true],
    ['http://shop-main--acme.env.localhost:8080/a/b?c=d#e', true],
    ['http://SHOP-main--acme.ENV.localhost:8080', true],
    ['http://env.localhost:8080/', false], // the domain itself
    ['http://a.b.env.localhost:8080/', false],
    ['http://shop.env.localhost./', false],
    ['http://shop.env.localhost.:8080/', false],
    ['http://shop.env.localhost/', false],
    ['http://shop.env.localhost:6379/', false],
    ['https://shop.env.localhost:8080/', false],
    ['http://user:password@shop.env.localhost:8080/', false],
    ['http://shop.env.localhost:8080@evil.example/', false],
    ['http://evil.example:8080/.env.localhost:8080', false],
    ['http://shopenv.localhost:8080/', false],
    ['http://env.localhost.evil.example:8080/', false],
    ['http://127.0.0.1:8080/', false],
    ['http://[::1]:8080/', false],
    ['http://coppice.localhost:8080/', false],
    ['file:///etc/passwd', false],
    ['javascript:alert(1)', false],
    ['no URL', false],
    ['', false],
  ])('%s: %s', (url, expected) => {
    expect(local.has(url)).toBe(expected);
  });

  test.each([
    ['https://shop.env.example/', true],
    ['https://shop.env.example:443/', true],
    ['http://shop.env.example/', false],
    ['https://shop.env.example:8443/', false],
  ])('%s, over TLS: %s', (url, expected) => {
    expect(secure.has(url)).toBe(expected);
  });
});

test.each([
  [local, 'ws://shop.env.localhost:8080/live', true],
  [local, 'wss://shop.env.localhost:8080/live', false],
  [local, 'http://shop.env.localhost:8080/live', false],
  [local, 'ws://127.0.0.1:8080/', false],
  [secure, 'wss://shop.env.example/live', true],
])('accepts a WebSocket, case %#: %s', (environments, url, expected) => {
  expect(environments.hasSocket(url)).toBe(expected);
});

test.each([
  [local, 8080],
  [secure, 443],
  [new Environments('http://env.example'), 80],
])('accepts the port, case %#', (environments, port) => {
  expect(environments.port).toBe(port);
});

describe('the hosts of one environment', () => {
  const one = local.of('http://shop-main--acme.env.localhost:8080/any');

  test.each([
    ['http://shop-main--acme.env.localhost:8080/', true],
    ['http://admin---shop-main--acme.env.localhost:8080/', true],
    ['http://shop-main--other.env.localhost:8080/', false],
    ['http://admin---shop-main--other.env.localhost:8080/', false],
    ['http://x--shop-main--acme.env.localhost:8080/', false],
    ['http://x-shop-main--acme.env.localhost:8080/', false],
    ['http://shop-main--acme---other--group.env.localhost:8080/', false],
    ['http://alias-a1---0123456789abcdef0123.env.localhost:8080/', false],
    ['http://shop-main--acme.env.localhost:6379/', false],
    ['http://127.0.0.1:8080/', false],
  ])('%s: %s', (url, expected) => {
    expect(one?.has(url)).toBe(expected);
    expect(one?.hasSocket(url.replace('http', 'ws'))).toBe(expected);
  });

  test('are also found by the URL of an alias', () => {
    const patterns = ['shop-main--acme.env.localhost', '*---shop-main--acme.env.localhost'];
    expect(one?.hostPatterns).toEqual(patterns);
    expect(local.of('http://admin---shop-main--acme.env.localhost:8080/')?.hostPatterns).toEqual(patterns);
    expect([local.hostPatterns, one?.port, one?.domain]).toEqual([['*.env.localhost'], 8080, 'env.localhost']);
  });

  test.each(['http://evil.example/', 'http://a,b.env.localhost:8080/', 'https://shop.env.localhost:8080/', 'none'])(
    'are unknown for %s',
    (url) => {
      expect(local.of(url)).toBeUndefined();
    },
  );
});

describe('the group of an address', () => {
  test.each([
    ['shop-main--acme', 'acme'],
    ['admin---shop-main--acme', 'acme'],
    ['shop-a-very-long-name-acme-0123456789', UNKNOWN_GROUP],
    ['alias-a1---0123456789abcdef0123', UNKNOWN_GROUP],
    ['a--b--c', UNKNOWN_GROUP],
  ])('%s: %s', (label, group) => {
    expect(local.groupOf(`http://${label}.env.localhost:8080/`)).toBe(group);
  });
});
