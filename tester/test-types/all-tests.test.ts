import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Environments } from '../network/environments.ts';
import { allTests } from './all-tests.ts';

test('reads each file of the folder as a test type', async () => {
  const environments = new Environments('http://env.localhost:8080');
  const loadPage = () => Promise.reject(new Error('no browser here'));
  const tests = await allTests({ environments, loadPage, now: () => 0 });
  const files = readdirSync(new URL('../kinds/', import.meta.url)).filter((name) => !name.endsWith('.test.ts'));
  expect([...tests.keys()].map((type) => `${type}.ts`)).toEqual(files.sort());
  for (const [type, one] of tests) expect(one).toMatchObject({ type, params: { type: 'object' } });
});
