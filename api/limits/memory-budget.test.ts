import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import { memoryBudget, type Tenant } from './memory-budget.ts';

const mebibyte = 1024 * 1024;
const account = (id: string): Tenant => ({ kind: 'account', id });
const address = (id: string): Tenant => ({ kind: 'address', id });
const budgetOf = (mebibytes: number, registry = new Registry()) => memoryBudget(mebibytes * mebibyte, registry);

test('an account that holds a quarter is refused with 429 until it releases; others are not', async () => {
  const registry = new Registry();
  const budget = budgetOf(16, registry);
  const release = budget.take(account('ann'), 4 * mebibyte);
  expect(() => budget.take(account('ann'), 1)).toThrow(TooManyRequests);
  expect(() => budget.take(account('ann'), 1)).toThrow(/use 4 MiB .* one account\. Wait/);
  budget.take(account('ben'), mebibyte);
  release();
  release();
  expect(budget.heldBytes).toBe(mebibyte);
  budget.take(account('ann'), 1);
  expect(await registry.metrics()).toContain('coppice_api_limited_requests_total{limit="memory"} 2');
  expect(await registry.metrics()).toContain(`coppice_api_request_memory_bytes ${mebibyte + 1}`);
});

test('beyond the total everybody is refused with 503', () => {
  const budget = budgetOf(16);
  budget.count(account('ann'), 16 * mebibyte);
  expect(() => budget.take(account('eve'), 1)).toThrow(Unavailable);
});

test('accounts that hold all they can leave room for small requests of others', () => {
  const budget = budgetOf(64);
  const body = 3 * mebibyte;
  const fill = (id: string) => {
    try {
      for (;;) budget.take(account(id), body);
    } catch (error) {
      return error;
    }
  };
  const refusals = Array.from({ length: 50 }, (_, index) => fill(`attacker-${index}`));
  expect(refusals[0]).toBeInstanceOf(TooManyRequests);
  expect(refusals.at(-1)).toBeInstanceOf(Unavailable);
  expect(budget.heldBytes).toBeLessThan(58 * mebibyte);
  budget.requireRoom(account('victim'));
  budget.take(account('victim'), mebibyte);
});

test('addresses that nobody is logged in from leave half of the memory to accounts', () => {
  const budget = budgetOf(16);
  for (let index = 0; index < 8; index += 1) budget.take(address(`10.0.0.${index}`), mebibyte);
  expect(() => budget.take(address('10.0.0.1'), 1)).toThrow(TooManyRequests);
  expect(() => budget.take(address('10.0.0.9'), 1)).toThrow(Unavailable);
  budget.take(account('ann'), 2 * mebibyte);
});

test('the answer of a write is counted, and never refused', () => {
  const budget = budgetOf(16);
  budget.count(account('ann'), 20 * mebibyte);
  budget.count(account('ann'), mebibyte);
  expect(budget.heldBytes).toBe(21 * mebibyte);
});
