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
  'My-Company-Production-Db-01',
  'X-Service-Token-V2-Beta',
  'us-east-1a_m5-xlarge_replica-2',
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
  'eDG4G-lkOy9_lionN-_p2CVg',
])('treats %j as random', (value) => {
  expect(isLikelyRandom(value)).toBe(true);
});

test('treats random bytes in base64 and hexadecimal digits as random', () => {
  const count = 2000;
  const missed = { base64: 0, base64url: 0, hex: 0 };
  const seed = fc.sample(fc.nat(), 1)[0] ?? 0;
  for (let index = 0; index < count; index++) {
    const bytes = createHash('sha256').update(`${seed} ${index}`).digest().subarray(0, 18);
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      if (!isLikelyRandom(bytes.toString(encoding))) missed[encoding] += 1;
    }
  }
  // A text by chance looks like words, or has a separator after every few characters.
  expect(missed.hex).toBe(0);
  expect(missed.base64 / count).toBeLessThan(0.015);
  expect(missed.base64url / count).toBeLessThan(0.015);
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
