import { parse } from 'yaml';
import { z } from 'zod';
import { Problem } from '../support/problem.ts';

const chartSchema = z.looseObject({
  home: z.string(),
  sources: z.array(z.string()),
  maintainers: z.array(z.looseObject({ url: z.string() })),
});
const resultsSchema = z.looseObject({ commit: z.string(), passed: z.int(), failed: z.int() });

/** Hosts that RFC 2606 and RFC 6761 reserve for examples. */
const exampleHost = /(^|\.)example(\.(com|net|org))?$/;

/** What a release contains or rests on, as text. */
export interface ReleaseBasis {
  /** Chart.yaml of the chart. */
  chart: string;
  /** test/full-results.json. */
  results: string;
}

/**
 * Throws a Problem unless a release can be published: its chart leads users to addresses of the publisher, and the last
 * `npm run test:full` passed.
 */
export function requirePublishable({ chart, results }: ReleaseBasis): void {
  const { home, sources, maintainers } = chartSchema.parse(parse(chart));
  const addresses = [home, ...sources, ...maintainers.map(({ url }) => url)];
  const placeholders = new Set(addresses.filter((address) => exampleHost.test(new URL(address).hostname)));
  if (placeholders.size > 0) {
    throw new Problem(
      `charts/coppice/Chart.yaml has placeholders: ${[...placeholders].join(', ')}. ` +
        'Replace them in home, sources and maintainers by your addresses, or use --dry-run.',
    );
  }
  const { commit, passed, failed } = resultsSchema.parse(JSON.parse(results));
  if (failed > 0 || passed === 0) {
    throw new Problem(
      `test/full-results.json reports ${passed} passed and ${failed} failed tests of ${commit}. ` +
        'Run `npm run test:full` until none fails and commit its results, or use --dry-run.',
    );
  }
}
