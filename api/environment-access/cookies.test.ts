import { expect, test } from '@jest/globals';
import { HostCookies, withoutOwn } from './cookies.ts';

test.each([
  ['a=1; coppice-access=x; b=2', 'a=1; b=2'],
  ['coppice-access=x', undefined],
  ['__Host-coppice-access=x;coppice-access-start=y;  a=b=c ', 'a=b=c'],
  ['coppice-access=x; coppice-access=y; coppice-accesses=z', 'coppice-accesses=z'],
  ['coppice-access; a', 'a'],
  ['', undefined],
  [undefined, undefined],
])('removes its cookies from %j', (cookies, expected) => {
  expect(withoutOwn(cookies)).toBe(expected);
});

test('names the cookies so that no other host can set them over https', () => {
  const [http, https] = [new HostCookies(false), new HostCookies(true)];
  const attributes = 'Path=/; Max-Age=60; HttpOnly; SameSite=Lax';
  expect(http.set('access', 'v', 60)).toBe(`coppice-access=v; ${attributes}`);
  expect(https.set('access', 'v', 60)).toBe(`__Host-coppice-access=v; ${attributes}; Secure`);
  expect(https.values('coppice-access=forged; __Host-coppice-access=own', 'access')).toEqual(['own']);
  expect(http.values('coppice-access=a; coppice-access=b', 'access')).toEqual(['a', 'b']);
  expect(http.values('coppice-access=a;'.repeat(9), 'access')).toHaveLength(5);
});
