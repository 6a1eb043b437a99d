import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from '../../test/properties.ts';
import { isLikelyRandom, textsToMask } from './texts-to-mask.ts';

test.each([
  '',
  'node',
  'production',
  'true',
  'hunter2',
  'internationalization',
  'Donaudampfschifffahrtsgesellschaft',
  'shop-main',
  'example.com',
  'registry.example.com:5000/shop/web:v1.24.3-rc2',
  'https://api.example.com/v1/users?active=true',
  'postgres://postgres:postgres@db:5432/shop',
  'somebody@example.com',
  'Europe/Berlin',
  'en_US.UTF-8',
  'linux/amd64',
  'python3.12-slim-bookworm',
  'node:24-alpine',
  '/usr/local/bin:/usr/bin',
  '10.0.0.0/24',
  '2026-11-22T10:00:00Z',
  '12345678',
  'application/json',
  'CamelCaseNames',
  'correct horse battery staple',
])('treats %j as an ordinary word', (value) => {
  expect(isLikelyRandom(value)).toBe(false);
});

test.each([
  'Xk29dLq8Zp',
  'x!9$kL%2q',
  'ssw0rd2024x',
  'qzxvkjwpghtr',
  '4929123412341234',
  'deadbeefdeadbee1',
  '123e4567-e89b-12d3-a456-426614174000',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.dBjftJeZ4CVP',
  'postgres://app:Xk29dLq8Zp@db:5432/shop',
])('treats %j as random', (value) => {
  expect(isLikelyRandom(value)).toBe(true);
});

test('treats random bytes in base64 and hexadecimal digits as random', () => {
  const bytes = fc.nat().map((seed) => createHash('sha256').update(String(seed)).digest().subarray(0, 18));
  fc.assert(
    fc.property(bytes, (some) => {
      expect(isLikelyRandom(some.toString('base64'))).toBe(true);
      expect(isLikelyRandom(some.toString('base64url'))).toBe(true);
      expect(isLikelyRandom(some.toString('hex'))).toBe(true);
    }),
  );
});

test('masks marked values whatever they look like, and others that are random', () => {
  const texts = textsToMask([
    { value: 'node' },
    { value: 'word', secret: true },
    { value: 'Xk29dLq8Zp', secret: false },
    { value: 'postgres://app:Xk29%40Lq8Zp@db/shop' },
  ]);
  expect(texts).toEqual(['word', 'Xk29dLq8Zp', 'postgres://app:Xk29%40Lq8Zp@db/shop', 'Xk29@Lq8Zp']);
});
