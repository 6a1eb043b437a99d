import { expect, test } from '@jest/globals';
import { environmentFacts } from './environment-facts.ts';

const ref = { name: 'main', type: 'branch' } as const;

test.each([
  [
    'https://env.example.com',
    'shop-main',
    'https://shop-main--acme.env.example.com',
    'shop-main--acme.env.example.com',
  ],
  [
    'http://env.localhost:8080',
    'shop-main',
    'http://shop-main--acme.env.localhost:8080',
    'shop-main--acme.env.localhost',
  ],
])('below %s the environment %s is at %s', (base, name, url, host) => {
  const facts = environmentFacts(new URL(base), { id: { group: 'acme', name }, repository: 'shop', ref });
  expect(facts).toMatchObject({
    ...{ environment: `acme.${name}`, group: 'acme', repository: 'acme.shop', ref },
    web: { url, host },
  });
  const [protocol = '', rest = ''] = url.split('//');
  expect(facts.aliasWeb('admin')).toEqual({ url: `${protocol}//admin---${rest}`, host: `admin---${host}` });
});

test('addresses of the longest names have valid hosts', () => {
  const id = { group: 'g'.repeat(57), name: 'n'.repeat(63) };
  const { web, aliasWeb } = environmentFacts(new URL('https://env.example.com'), { id, repository: 'shop', ref });
  for (const { url, host } of [web, aliasWeb('a'.repeat(40))]) {
    expect(new URL(url).host).toBe(host);
    expect(host.split('.')[0]?.length).toBeLessThanOrEqual(63);
  }
});
