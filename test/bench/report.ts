import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import { formatted } from '../../oxfmt.config.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import type { Figure } from './measure.ts';
import { type MeasurementsPage, measurementsText, resultSchema } from './measurements.ts';
import { PERFORMANCE, RELIABILITY } from './pages.ts';

/** Where figures are stored: a folder of JSON files, and the page that is generated from them. */
export interface Report {
  page: string;
  results: string;
  content: MeasurementsPage;
}

const report = (name: string, results: string, content: MeasurementsPage): Report => ({
  page: join(REPOSITORY_ROOT, 'docs/measurements', name),
  results: join(REPOSITORY_ROOT, 'docs/measurements', results),
  content,
});

export const REPORTS = {
  bench: report('performance.md', 'bench', PERFORMANCE),
  faults: report('reliability.md', 'faults', RELIABILITY),
};

/** Returns the measured commit; changed figures do not count as changes. */
export function currentCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: REPOSITORY_ROOT, encoding: 'utf8' }).trim();
  const kept = Object.values(REPORTS).flatMap(({ page, results }) => [page, results]);
  const others = kept.map((path) => `:(exclude)${relative(REPOSITORY_ROOT, path)}`);
  const changes = git('status', '--porcelain', '--', '.', ...others);
  return git('rev-parse', '--short=12', 'HEAD') + (changes === '' ? '' : ' with changes');
}

/** What was measured, when, and the load average of the minute before. */
export interface Run {
  commit: string;
  date: Date;
  load: number;
}

/** Returns whether the page shows the part. */
export function isShown({ content }: Report, part: string): boolean {
  return content.sections.some(({ parts }) => part in parts);
}

/** Stores a part's figures with the commit and the machine, and generates the page. */
export async function keep(
  target: Report,
  part: string,
  figures: readonly Figure[],
  { commit, date, load }: Run,
): Promise<void> {
  mkdirSync(target.results, { recursive: true });
  const result = { part, commit, date: date.toISOString(), machine: machineOf(), load, figures };
  writeFileSync(join(target.results, `${part}.json`), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(target.page, await pageText(target));
}

/** Returns the page for the stored figures. */
export async function pageText({ page, results, content }: Report): Promise<string> {
  const kept = globSync('*.json', { cwd: results }).map((file) =>
    resultSchema.parse(JSON.parse(readFileSync(join(results, file), 'utf8'))),
  );
  return formatted(page, measurementsText(content, kept));
}

function machineOf(): string {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const [kernel = ''] = release().split('-');
  return `${processors.length} cores (${processors[0]?.model ?? 'of an unknown model'}), ${memory}, ${type()} ${kernel}`;
}

if (process.argv[1] === import.meta.filename) {
  for (const one of Object.values(REPORTS)) writeFileSync(one.page, await pageText(one));
}
