import { usageError } from '../errors.ts';
import { write, type Io } from '../io.ts';
import { FORMATS, type Format } from './formats.ts';
import { visible, visibleJson, visibleValue } from './safe-text.ts';
import { tableText, type Column } from './table.ts';

/** The output of objects of one kind. */
export interface Shown<Item> {
  columns: readonly Column<Item>[];
  /** The output of `-o name`, which other commands accept as an argument. */
  name: (item: Item) => string;
}

export function formatOf(text: string | undefined): Format {
  const found = FORMATS.find((format) => format === (text ?? 'table'));
  if (found === undefined) throw usageError(`-o ${text ?? ''} is not known. Use one of ${FORMATS.join(', ')}`);
  return found;
}

/** Prints a list to standard output. */
export async function printList<Item>(io: Io, format: Format, items: readonly Item[], shown: Shown<Item>) {
  if (format === 'json' || format === 'yaml') {
    await printValue(io, format, items);
    return;
  }
  if (format === 'name') {
    await write(io.out, items.map((item) => `${visible(shown.name(item))}\n`).join(''));
    return;
  }
  const columns = shown.columns.filter(({ isWide }) => format === 'wide' || isWide !== true);
  if (items.length === 0) io.err.write('none found\n');
  else await write(io.out, tableText(columns, items));
}

/** Prints one object, as a table of one row or as JSON or YAML. */
export async function printItem<Item>(io: Io, format: Format, item: Item, shown: Shown<Item>) {
  if (format === 'json' || format === 'yaml') await printValue(io, format, item);
  else await printList(io, format, [item], shown);
}

/** Prints a value as JSON or YAML. */
export async function printValue(io: Io, format: 'json' | 'yaml', value: unknown): Promise<void> {
  if (format === 'json') {
    await write(io.out, `${visibleJson(JSON.stringify(value, undefined, 2))}\n`);
    return;
  }
  const { stringify } = await import('yaml');
  await write(io.out, stringify(visibleValue(value)));
}
