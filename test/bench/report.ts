import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import { repositoryRoot } from '../cluster/paths.ts';
import { type Figure, median, ratioOf } from './measure.ts';

/** Where figures are kept: a folder of JSON files, and a page with a place for each part between its markers. */
export interface ReportPlace {
  page: string;
  results: string;
}

const place = (page: string, results: string) => ({
  page: join(repositoryRoot, page),
  results: join(repositoryRoot, results),
});

export const PLACES = {
  bench: place('docs/performance.md', 'test/bench/results'),
  faults: place('docs/reliability.md', 'test/faults/results'),
};

function rows(figures: readonly Figure[]): string[][] {
  return figures.map((figure) => {
    const ratio = ratioOf(figure);
    return [
      figure.name,
      `${format(median(figure.samples))} ${figure.unit}`,
      figure.baseline ? `${figure.baseline.name}: ${format(median(figure.baseline.samples))} ${figure.unit}` : '',
      ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
      figure.target ?? '',
    ];
  });
}

const head = ['figure', 'median', 'baseline', 'ratio', 'target'];

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

/** The figures as a Markdown table. */
export function table(figures: readonly Figure[]): string {
  const lines = [head, ...rows(figures)];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const text = (line: string[]) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = head, ...others] = lines;
  return [text(first), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others.map(text)].join('\n');
}

/** What is measured; figures that were kept before it change nothing of that. */
export function currentCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).trim();
  const kept = Object.values(PLACES).flatMap(({ page, results }) => [page, results]);
  const others = kept.map((path) => `:(exclude)${relative(repositoryRoot, path)}`);
  const changes = git('status', '--porcelain', '--', '.', ...others);
  return git('rev-parse', '--short=12', 'HEAD') + (changes === '' ? '' : ' with changes');
}

/** What was measured, when, and how busy the machine was before: its load average of the last minute. */
export interface Run {
  commit: string;
  date: Date;
  load: number;
}

/** Whether the page has a place for the part. */
export function hasPlace({ page }: ReportPlace, part: string): boolean {
  return readFileSync(page, 'utf8').includes(`<!-- ${part}:begin -->`);
}

/** Keeps a part's figures with the commit and the machine, and shows them on the page. */
export function keep({ page, results }: ReportPlace, part: string, figures: readonly Figure[], run: Run): void {
  const machine = machineOf();
  mkdirSync(results, { recursive: true });
  const { commit, date, load } = run;
  const result = { part, commit, date: date.toISOString(), machine, load, figures };
  writeFileSync(join(results, `${part}.json`), `${JSON.stringify(result, null, 2)}\n`);
  const [begin, end] = [`<!-- ${part}:begin -->`, `<!-- ${part}:end -->`];
  const before = readFileSync(page, 'utf8');
  const [above, rest] = before.split(begin);
  const below = rest?.split(end)[1];
  if (above === undefined || below === undefined) throw new Error(`${page} has no place for ${part}`);
  const day = date.toISOString().slice(0, 10);
  const told = `Commit ${commit}, ${day}, ${machine}, load average before ${load.toFixed(1)}; ${mediansOf(figures)}.`;
  writeFileSync(page, `${above}${begin}\n\n${told}\n\n${table(figures)}\n\n${end}${below}`);
}

function machineOf(): string {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const [kernel = ''] = release().split('-');
  return `${processors.length} cores (${processors[0]?.model ?? 'of an unknown model'}), ${memory}, ${type()} ${kernel}`;
}

function mediansOf(figures: readonly Figure[]): string {
  const counts = figures.map(({ samples }) => samples.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (most <= 1) return 'measured once';
  return least === most ? `medians of ${most}` : `medians of ${least} to ${most}`;
}
