import { expect, test } from '@jest/globals';
import { NOT_RUN_STATUS } from '../support/problem.ts';
import { outcomeOf, resultOf, summaryOf, totalOf } from './outcome.ts';

test.each([
  [0, 'passed'],
  [1, 'failed'],
  [null, 'failed'],
  [NOT_RUN_STATUS, 'not run'],
])('a program that ends with %s has %s', (status, result) => expect(resultOf(status)).toBe(result));

test('names a check that could not run, and counts it neither as passed nor as failed', () => {
  const total = totalOf([
    { passed: 5, failed: 2 },
    outcomeOf('three nodes', 'not run'),
    outcomeOf('types', 'passed'),
    outcomeOf('format', 'failed'),
  ]);
  expect(total).toEqual({ passed: 6, failed: 3, notRun: ['three nodes'] });
  expect(summaryOf(total)).toEqual(['not run: three nodes', '6 passed, 3 failed']);
});

test('reports only the numbers if everything ran', () => {
  expect(summaryOf(totalOf([outcomeOf('types', 'passed')]))).toEqual(['1 passed, 0 failed']);
});
