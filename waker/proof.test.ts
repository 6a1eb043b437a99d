import { expect, test } from '@jest/globals';
import { Proofs } from './proof.ts';

const minute = 60_000;

function proofsAt(key = 'k') {
  const clock = { now: 1_000_000_000 };
  return { clock, proofs: new Proofs(key, () => clock.now) };
}

test('accepts a proof of the same host for ten minutes', () => {
  const { clock, proofs } = proofsAt();
  const proof = proofs.sign('a.example');
  clock.now += 9 * minute;
  expect(proofs.isValid('a.example', proof)).toBe(true);
  clock.now += 2 * minute;
  expect(proofs.isValid('a.example', proof)).toBe(false);
});

test('accepts none of another host, of another key, or that was changed', () => {
  const { proofs } = proofsAt();
  const proof = proofs.sign('a.example');
  expect(proofs.isValid('b.example', proof)).toBe(false);
  expect(proofsAt('other').proofs.isValid('a.example', proof)).toBe(false);
  const [at = '', signature = ''] = proof.split('.');
  for (const forged of ['', '.', at, `${at}.`, `${Number(at) + 1}.${signature}`, `${proof}.x`, `1e9.${signature}`]) {
    expect(proofs.isValid('a.example', forged)).toBe(false);
  }
});
