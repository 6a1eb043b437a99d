import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** Longer records are not read: figures belong to docs/measurements, steps to a guide. */
const maxWords = 280;

const pages = globSync('docs/adr/*.md', { cwd: REPOSITORY_ROOT });

test('each has a number of its own', () => {
  const numbers = pages.map((page) => /\d{4}/.exec(page)?.[0]).sort();
  expect(numbers).toEqual([...new Set(numbers)]);
});

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(REPOSITORY_ROOT, page), 'utf8');

  test('has a context, a decision and its consequences', () => {
    expect(text.match(/^## .*$/gm)).toEqual(['## Context', '## Decision', '## Consequences']);
  });

  test(`has at most ${maxWords} words`, () => {
    expect(text.match(/[^\s|:-]\S*/g)?.length).toBeLessThanOrEqual(maxWords);
  });
});
