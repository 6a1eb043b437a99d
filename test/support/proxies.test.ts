import { expect, test } from '@jest/globals';
import { proxyVariables, withoutProxyPasswords } from './proxies.ts';

test('names the variables that are set', () => {
  expect(proxyVariables({ HTTP_PROXY: 'http://proxy:3128', NO_PROXY: '' })).toEqual(['HTTP_PROXY']);
  expect(proxyVariables({ https_proxy: 'http://proxy:3128' })).toEqual(['https_proxy']);
});

test.each([
  ['http://me:hunter2@proxy:3128', 'docker run -e HTTP_PROXY=http://me:***@proxy:3128'],
  ['http://me:hunter2@2@proxy:3128', 'docker run -e HTTP_PROXY=http://me:***@proxy:3128'],
  ['http://:hunter2@proxy', 'docker run -e HTTP_PROXY=http://:***@proxy'],
  ['me:hunter2@proxy:3128', 'docker run -e HTTP_PROXY=me:***@proxy:3128'],
  ['proxy:3128', 'docker run -e HTTP_PROXY=proxy:3128'],
  ['http://me:@proxy', 'docker run -e HTTP_PROXY=http://me:@proxy'],
  ['http://me@proxy', 'docker run -e HTTP_PROXY=http://me@proxy'],
  ['http://proxy:3128', 'docker run -e HTTP_PROXY=http://proxy:3128'],
])('hides the password of %s', (value, shown) => {
  expect(withoutProxyPasswords(`docker run -e HTTP_PROXY=${value}`, { https_proxy: value })).toBe(shown);
});
