import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Unavailable } from '../shared/errors.ts';
import { Passwords } from './passwords.ts';

const weak = { ln: 4, r: 8, p: 1 };

test('creates a salted hash that contains its parameters and verifies', async () => {
  const passwords = new Passwords(randomBytes, weak);
  const [one, two] = [await passwords.hash('correct horse'), await passwords.hash('correct horse')];
  expect(one).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
  expect(one).not.toBe(two);
  expect(await passwords.verify('correct horse', one)).toBe(true);
  expect(await passwords.verify('correct horsf', one)).toBe(false);
});

test('verifies with the parameters of the hash, not with the current ones', async () => {
  const hash = await new Passwords(randomBytes, { ln: 5, r: 8, p: 2 }).hash('correct horse');
  expect(await new Passwords(randomBytes, weak).verify('correct horse', hash)).toBe(true);
});

test('accepts the same password in two Unicode forms', async () => {
  const passwords = new Passwords(randomBytes, weak);
  expect(await passwords.verify('pa\u0073s\u0065\u0301', await passwords.hash('pass\u00e9'))).toBe(true);
});

test.each([undefined, '', 'none', '$scrypt$ln=4,r=8,p=1$$', '$2b$10$abc'])(
  'verifies no password against %j',
  async (hash) => {
    const passwords = new Passwords(randomBytes, weak);
    expect(await passwords.verify('', hash)).toBe(false);
  },
);

test('uses the strong parameters that OWASP recommends: N=2^17, r=8, p=1', async () => {
  const hash = await new Passwords(randomBytes).hash('correct horse');
  expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/);
});

test('refuses requests beyond the limit, and serves the others', async () => {
  const passwords = new Passwords(randomBytes, weak);
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => passwords.hash('correct horse')));
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  expect(refused).toHaveLength(9);
  expect(refused.every((reason) => reason instanceof Unavailable)).toBe(true);
  expect(await passwords.hash('again')).toContain('$scrypt$');
});

test('does the same queued work, and takes as long, when there is no hash', async () => {
  const passwords = new Passwords(randomBytes, weak);
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => passwords.verify('x', undefined)));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(9);
});
