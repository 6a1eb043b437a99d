import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ALL_KEY_TABLES } from './all-tables.ts';
import type { Key, KeyTable } from './key-table.ts';

const tables = new Map<string, KeyTable>(
  ALL_KEY_TABLES.flatMap((table) => table.path.split(', ').map((path) => [path, table] as const)),
);

describe('the Compose Specification', () => {
  /** Every key by its map, taken from schema/compose-spec.json of compose-go at e70e961 (July 2026). */
  const specification = Object.entries(
    JSON.parse(readFileSync(new URL('specification-keys.json', import.meta.url), 'utf8')) as Record<string, string[]>,
  );

  /** Returns whether a path is read: nothing below an ignored or refused key is. */
  const isRead = (path: string): boolean => {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('.'), 0))) {
      const key = at.slice(at.lastIndexOf('.') + 1).replace('[]', '');
      const parent = tables.get(at.slice(0, Math.max(at.lastIndexOf('.'), 0)));
      const support = parent?.keys.get(key)?.support;
      if (support === 'ignored' || support === 'refused') return false;
    }
    return true;
  };

  test.each(specification.filter(([path]) => isRead(path)))('%s: has each key in a table', (path, keys) => {
    expect([...(tables.get(path)?.keys.keys() ?? [])]).toEqual(expect.arrayContaining(keys));
  });

  test('has no other keys in the tables except those of Coppice', () => {
    const known = new Map(specification);
    const ours = [...tables].flatMap(([path, { keys }]) =>
      [...keys.keys()].filter((key) => known.get(path)?.includes(key) !== true).map((key) => `${path}.${key}`),
    );
    expect(ours.filter((name) => !name.includes('x-coppice'))).toEqual([]);
  });
});

describe('docs/reference/service-file.md', () => {
  const text = readFileSync(new URL('../../../docs/reference/service-file.md', import.meta.url), 'utf8');
  const item = /^- (?<names>`[^`]+`(?:, `[^`]+`)*)(?: \((?<support>ignored|refused)\))?(?:: (?<notes>.*))?$/;
  const documented = new Map<string, Map<string, { support: string; notes: string }>>();
  for (const section of text.split(/^### /m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n');
    const rows = lines.flatMap((line) => {
      const { names = '', support = 'supported', notes = '' } = item.exec(line)?.groups ?? {};
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, { support, notes }] as const);
    });
    documented.set(heading === 'The top level' ? '' : heading.replaceAll('`', ''), new Map(rows));
  }

  const cases = ALL_KEY_TABLES.map((table): [string, KeyTable] => [table.path, table]);

  test.each(cases)('%s: has the same keys, with the same support', (path, table) => {
    const supportOf = (keys: ReadonlyMap<string, { support: string }>): string[] =>
      [...keys].map(([name, { support }]) => `${name} ${support}`).sort();
    expect(supportOf(documented.get(path) ?? new Map())).toEqual(supportOf(table.keys));
  });

  const reasons = cases.flatMap(([path, { keys }]) =>
    [...keys].filter(([, key]) => key.why !== '').map(([name, key]): [string, string, Key] => [path, name, key]),
  );

  test.each(reasons)('%s.%s: gives the reason of the message', (path, name, { why, unless }) => {
    const notes = documented.get(path)?.get(name)?.notes;
    expect(notes).toContain(why);
    if (unless !== undefined) expect(notes).toContain(unless.why);
  });
});

test.each(ALL_KEY_TABLES.flatMap(({ keys }) => [...keys]))(
  '%s: gives a reason exactly for unsupported keys',
  (_, key) => {
    expect(key.why === '').toBe(key.support === 'supported');
  },
);
