import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import { memoryBudget, type Tenant } from './memory-budget.ts';

const mebibyte = 1024 * 1024;
const account = (id: string): Tenant => ({ kind: 'account', id });
const address = (id: string): Tenant => ({ kind: 'address', id });
const budgetOf = (mebibytes: number, registry = new Registry()) => memoryBudget(mebibytes * mebibyte, registry);

test('refuses an account that uses a quarter with 429 until it releases memory, and no others', async () => {
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

test('refuses everybody with 503 beyond the total', () => {
  const budget = budgetOf(16);
  budget.count(account('ann'), 16 * mebibyte);
  expect(() => budget.take(account('eve'), 1)).toThrow(Unavailable);
});

test('leaves room for small requests of others when accounts use all they can', () => {
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

test('leaves half of the memory to accounts when addresses without a login use all they can', () => {
  const budget = budgetOf(16);
  for (let index = 0; index < 8; index += 1) budget.take(address(`10.0.0.${index}`), mebibyte);
  expect(() => budget.take(address('10.0.0.1'), 1)).toThrow(TooManyRequests);
  expect(() => budget.take(address('10.0.0.9'), 1)).toThrow(Unavailable);
  budget.take(account('ann'), 2 * mebibyte);
});

test('counts the response of a write, and never refuses it', () => {
  const budget = budgetOf(16);
  budget.count(account('ann'), 20 * mebibyte);
  budget.count(account('ann'), mebibyte);
  expect(budget.heldBytes).toBe(21 * mebibyte);
});
