import { readdir } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { z } from 'zod';
import type { PageLoader } from '../browser/page-snapshot.ts';
import type { Environments } from '../network/environments.ts';
import type { AnyTest } from './test.ts';

/** What tests need to connect to environments. */
export interface TestContext {
  environments: Environments;
  loadPage: PageLoader;
  /** Returns monotonic milliseconds. */
  now: () => number;
  lookup?: LookupFunction;
}

const folder = new URL('../kinds/', import.meta.url);

const kindModule = z.object({
  default: z.custom<(options: TestContext) => AnyTest>((value) => typeof value === 'function'),
});

/** Returns the tests of this tester by type; each file of `tester/kinds/` adds one. */
export async function allTests(options: TestContext): Promise<ReadonlyMap<string, AnyTest>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort();
  const tests = new Map<string, AnyTest>();
  for (const file of files) {
    const test = kindModule.parse(await import(new URL(file, folder).href)).default(options);
    if (tests.has(test.type)) throw new Error(`two files of ${folder.pathname} define the test type ${test.type}`);
    tests.set(test.type, test);
  }
  return tests;
}
