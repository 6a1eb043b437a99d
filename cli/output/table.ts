import { visible } from './safe-text.ts';

/** A column of a table. `isWide` columns are shown with `-o wide` only. */
export interface Column<Item> {
  title: string;
  value: (item: Item) => string | number | undefined;
  isWide?: boolean;
}

const gap = '   ';

/** Returns a table in the form of kubectl's: upper-case titles, columns padded with spaces. */
export function tableText<Item>(columns: readonly Column<Item>[], items: readonly Item[]): string {
  const rows = [
    columns.map(({ title }) => title),
    ...items.map((item) => columns.map(({ value }) => cell(value(item)))),
  ];
  const widths = columns.map((_column, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((text, index) => (index === row.length - 1 ? text : text.padEnd(widths[index] ?? 0)))
        .join(gap)
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function cell(value: string | number | undefined): string {
  const text = visible(String(value ?? '')).replaceAll('\n', ' ');
  return text === '' ? '-' : text;
}
