import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics } from 'prom-client';
import { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { repositoryRoot } from '../cluster/paths.ts';

/** Names that Prometheus makes of a histogram or a summary. */
const derived = ['', '_bucket', '_sum', '_count'];

/** The names of Coppice's own metrics that a folder's sources write down. */
function writtenNames(part: string): string[] {
  const folder = join(repositoryRoot, part);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/(?<=')coppice_[a-z_]+(?=')/g) ?? []);
}

/** All names of series that operator and api export, the tester and the token server too, and `up`, which Prometheus adds. */
export function exportedNames(): Set<string> {
  const { registry } = new RuntimeMetrics();
  collectDefaultMetrics({ register: registry });
  const names = [
    ...registry.getMetricsAsArray().map(({ name }) => name),
    ...['operator', 'api', 'tester', 'registry-tokens', 'process'].flatMap(writtenNames),
    'up',
  ];
  return new Set(names.flatMap((name) => derived.map((suffix) => `${name}${suffix}`)));
}
