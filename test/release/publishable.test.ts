import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { Problem } from '../support/problem.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { requirePublishable } from './publishable.ts';

const own = 'https://git.acme.dev/coppice';
const chartWith = (changed: object) =>
  stringify({ home: own, sources: [`${own}.git`], maintainers: [{ name: 'Acme', url: own }], ...changed });
const resultsOf = (passed: number, failed: number) => JSON.stringify({ commit: 'abc', passed, failed, suites: [] });

test('permits a release with own addresses whose tests passed', () => {
  expect(() => requirePublishable({ chart: chartWith({}), results: resultsOf(7000, 0) })).not.toThrow();
});

describe('refuses to publish', () => {
  test.each([
    ['a placeholder as home', { home: 'https://git.example.com/coppice' }, 'https://git.example.com/coppice'],
    ['one among the sources', { sources: [own, 'ssh://git@example.org/coppice.git'] }, 'ssh://git@example.org'],
    ['one of a maintainer', { maintainers: [{ name: 'A', url: 'https://a.example' }] }, 'https://a.example'],
  ])('%s', (_what, changed, address) => {
    const publish = () => requirePublishable({ chart: chartWith(changed), results: resultsOf(7000, 0) });
    expect(publish).toThrow(Problem);
    expect(publish).toThrow(address);
  });

  test.each([
    ['results with a failed test', resultsOf(6999, 1)],
    ['results without a test', resultsOf(0, 0)],
  ])('%s', (_what, results) => {
    const publish = () => requirePublishable({ chart: chartWith({}), results });
    expect(publish).toThrow(Problem);
    expect(publish).toThrow(/test:full/);
  });

  test("this repository's chart, which has placeholders", () => {
    const chart = readFileSync(join(REPOSITORY_ROOT, 'charts/coppice/Chart.yaml'), 'utf8');
    expect(() => requirePublishable({ chart, results: resultsOf(1, 0) })).toThrow(/git\.example\.com/);
  });
});

test('a name that only contains example is not a placeholder', () => {
  const chart = chartWith({ home: 'https://example-company.dev/coppice' });
  expect(() => requirePublishable({ chart, results: resultsOf(1, 0) })).not.toThrow();
});
