import { z } from 'zod';
import { type Figure, median, ratioOf } from './measure.ts';

const samples = z.array(z.number());

/** Stored figures of a part, with what was measured, when and where. */
export const resultSchema = z.object({
  part: z.string(),
  commit: z.string(),
  date: z.iso.datetime(),
  machine: z.string(),
  /** Load average of the minute before; null if unknown. */
  load: z.number().nullable(),
  figures: z.array(
    z.object({
      name: z.string(),
      circumstances: z.string().optional(),
      unit: z.string(),
      samples,
      baseline: z.object({ name: z.string(), samples }).optional(),
      target: z.string().optional(),
    }),
  ),
});
export type Result = z.infer<typeof resultSchema>;

/** A table of a page, with a row for each figure and a column for each part, or the reverse. */
export interface Section {
  title: string;
  text: string;
  /** Parts in the table, with their headings. */
  parts: Readonly<Record<string, string>>;
  rows: 'figures' | 'parts';
}

export interface MeasurementsPage {
  title: string;
  text: string;
  sections: readonly Section[];
}

/** Figures of one name, including percentiles, in one cell of a table. */
interface Cell {
  name: string;
  values: string[];
  comparisons: Map<string, string[]>;
  target: string | undefined;
}

/** Returns the Markdown of a page, for the parts that have results. */
export function measurementsText({ title, text, sections }: MeasurementsPage, results: readonly Result[]): string {
  const head = '<!-- Generated from JSON beside it by `npm run generate`; do not edit. -->';
  const shown = sections.flatMap((section) => sectionText(section, results));
  return [head, `# ${title}`, text, ...shown].join('\n\n');
}

function sectionText({ title, text, parts, rows }: Section, results: readonly Result[]): string[] {
  const there = Object.entries(parts).flatMap(([part, label]) => {
    const result = results.find((one) => one.part === part);
    return result ? [{ label, result, cells: cellsOf(result.figures) }] : [];
  });
  if (there.length === 0) return [];
  const names = [...new Set(there.flatMap(({ cells }) => cells.map(({ name }) => name)))];
  const shared = new Map(
    names.map((name) => [name, sharedBy(there.flatMap(({ cells }) => cells.filter((cell) => cell.name === name)))]),
  );
  const textAt = (cells: readonly Cell[], name: string) =>
    cellText(
      cells.find((cell) => cell.name === name),
      shared.get(name),
    );
  const heading = (name: string) => {
    const { baseline, target } = shared.get(name) ?? {};
    const notes = [
      ...(baseline === undefined ? [] : [`× ${baseline}`]),
      ...(target === undefined ? [] : [`target ${target}`]),
    ];
    return notes.length === 0 ? name : `${name} (${notes.join('; ')})`;
  };
  const table =
    rows === 'figures'
      ? markdownTable(
          ['figure', ...there.map(({ label }) => label)],
          names.map((name) => [heading(name), ...there.map(({ cells }) => textAt(cells, name))]),
        )
      : markdownTable(
          ['', ...names.map(heading), 'commit'],
          there.map(({ label, result, cells }) => [label, ...names.map((name) => textAt(cells, name)), result.commit]),
        );
  const runs = rows === 'figures' ? runsText(there) : [];
  return [`## ${title}`, text, table, ...runs];
}

/** Returns one line for each run of the parts; equal runs share a line. */
function runsText(parts: readonly { label: string; result: Result }[]): string[] {
  const runs = Map.groupBy(
    parts,
    ({ result: { commit, date, machine } }) => `${commit}, ${date.slice(0, 10)}, ${machine}`,
  );
  return [...runs].map(([run, same]) => {
    const details = same.map(({ label, result: { load, figures } }) => {
      const before = load === null ? [] : [`load ${load.toFixed(1)}`];
      return [label, ...before, roundsOf(figures)].join(', ');
    });
    return `Commit ${run}: ${details.join('; ')}.`;
  });
}

/**
 * Returns the cells of a part: percentiles of one figure share a cell, and so does the same figure with another
 * baseline.
 */
function cellsOf(figures: readonly Figure[]): Cell[] {
  const prefix = commonPrefix(figures.map(({ name }) => name));
  const cells = new Map<string, Cell>();
  for (const figure of figures) {
    const own = figure.name.slice(prefix.length);
    const [, percentile = ''] = /(?:^|, )(p\d+)\b/.exec(own) ?? [];
    const name = own.replace(/^p\d+ of |, p\d+\b/, '');
    const cell = cells.get(name) ?? { name, values: [], comparisons: new Map<string, string[]>(), target: undefined };
    cells.set(name, cell);
    const value = `${percentile} ${format(median(figure.samples))} ${figure.unit}`.trim();
    if (!cell.values.includes(value)) cell.values.push(value);
    cell.target ??= figure.target;
    const { baseline } = figure;
    if (!baseline) continue;
    const ratio = ratioOf(figure);
    const base = `${format(median(baseline.samples))} ${figure.unit}`.trim();
    const known = cell.comparisons.get(baseline.name) ?? [];
    cell.comparisons.set(baseline.name, [...known, ratio === undefined ? base : `${ratio.toFixed(2)} ×`]);
  }
  return [...cells.values()];
}

/** Returns the common prefix of all names, up to a colon. */
function commonPrefix(names: readonly string[]): string {
  const [, prefix = ''] = /^(.*?: )/.exec(names[0] ?? '') ?? [];
  return names.every((name) => name.startsWith(prefix)) ? prefix : '';
}

/** What all cells of a figure share, shown next to its name: their only baseline, their target. */
interface Shared {
  baseline?: string | undefined;
  target?: string | undefined;
}

function sharedBy(cells: readonly Cell[]): Shared {
  const only = (values: readonly (string | undefined)[]) => (new Set(values).size === 1 ? values[0] : undefined);
  const compared = cells.filter(({ comparisons }) => comparisons.size > 0);
  return {
    baseline: only(
      compared.map(({ comparisons }) => (comparisons.size === 1 ? [...comparisons.keys()][0] : undefined)),
    ),
    target: only(cells.map(({ target }) => target)),
  };
}

function cellText(cell: Cell | undefined, { baseline, target }: Shared = {}): string {
  if (!cell) return '';
  const compared = [...cell.comparisons].map(([name, ratios]) =>
    [...ratios, ...(name === baseline ? [] : [name])].join(', ').replace(/ ×, (?=[^\d])/, ' × '),
  );
  const notes = [
    ...compared,
    ...(cell.target === target || cell.target === undefined ? [] : [`target ${cell.target}`]),
  ];
  return cell.values.join(', ') + (notes.length === 0 ? '' : ` (${notes.join('; ')})`);
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns a part's figures as a Markdown table, for the terminal. */
export function figuresTable(figures: readonly Figure[]): string {
  return markdownTable(
    ['figure', 'median'],
    cellsOf(figures).map((cell) => [cell.name, cellText(cell)]),
  );
}

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function roundsOf(figures: readonly Figure[]): string {
  const counts = figures.map(({ samples }) => samples.length);
  const [min, max] = [Math.min(...counts), Math.max(...counts)];
  if (max <= 1) return 'measured once';
  return min === max ? `medians of ${max}` : `medians of ${min} to ${max}`;
}
