import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics } from 'prom-client';
import { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** Suffixes of the series of a histogram or a summary. */
const derived = ['', '_bucket', '_sum', '_count'];

/** Returns the names of Coppice's own metrics in a folder's sources. */
function writtenNames(part: string): string[] {
  const folder = join(REPOSITORY_ROOT, part);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/(?<=')coppice_[a-z_]+(?=')/g) ?? []);
}

/**
 * Returns the names of all series that the operator, the API, the tester and the token server export, and `up`, which
 * Prometheus adds.
 */
export function exportedNames(): Set<string> {
  const { registry } = new RuntimeMetrics();
  collectDefaultMetrics({ register: registry });
  const names = [
    ...registry.getMetricsAsArray().map(({ name }) => name),
    ...['operator', 'api', 'tester', 'registry-tokens', 'waker', 'process'].flatMap(writtenNames),
    'up',
  ];
  return new Set(names.flatMap((name) => derived.map((suffix) => `${name}${suffix}`)));
}
