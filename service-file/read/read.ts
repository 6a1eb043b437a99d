import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlEntry, YamlMap, YamlNode } from '../yaml/yaml-node.ts';
import type { KeyTable } from './keys/key-table.ts';
import { nearest } from './nearest.ts';

export type Fields = ReadonlyMap<string, YamlEntry>;

/** Returns the supported entries of a map; every other key is reported as an error or a warning. */
export function readFields(node: YamlNode, table: KeyTable, problems: Problems): Fields | undefined {
  if (node.kind !== 'map') return problems.error(node, `${table.of} must be a map of keys, this is ${kindOf(node)}`);
  const fields = new Map<string, YamlEntry>();
  for (const entry of node.entries) {
    if (table.keys.get(entry.key)?.support === 'supported') fields.set(entry.key, entry);
    else reportOtherKey(entry, table, problems);
  }
  return fields;
}

function reportOtherKey({ key, at, value }: YamlEntry, table: KeyTable, problems: Problems): void {
  const known = table.keys.get(key);
  if (known?.support === 'refused') {
    if (!asksForNothing(value)) problems.error(at, refusal(known.why));
  } else if (known !== undefined) {
    const refused = value.kind === 'scalar' && known.unless?.values.test(String(value.value));
    if (refused === true) problems.error(at, refusal(known.unless?.why ?? ''));
    else problems.warn(at, `ignored: ${known.why}`);
  } else {
    reportUnknown(key, at, table, problems);
  }
}

function reportUnknown(key: string, at: YamlEntry['at'], table: KeyTable, problems: Problems): void {
  const meant = nearest(key, table.keys.keys(), problems);
  if (meant === undefined && key.startsWith('x-')) {
    problems.warn(at, 'ignored: Coppice does not define this key. YAML anchors in it still work');
    return;
  }
  const hint = meant === undefined ? 'remove it' : `did you mean ${quoted(meant)}?`;
  problems.error(at, `${quoted(key)} is not a key of ${table.of}: ${hint}`);
}

/** Returns whether a value requests nothing, like `privileged: false` or `devices: []`. */
function asksForNothing(node: YamlNode): boolean {
  if (node.kind === 'scalar') return node.value === null || node.value === false || node.value === 'false';
  return (node.kind === 'map' ? node.entries : node.items).length === 0;
}

/** Reads text. Numbers are accepted if their text is unambiguous; booleans become `true` or `false`. */
export function readText(node: YamlNode, problems: Problems): string | undefined {
  if (node.kind !== 'scalar') return problems.error(node, `must be text, this is ${kindOf(node)}`);
  const { value, source } = node;
  if (value === null) return problems.error(node, 'is empty: give it a value, or remove it');
  if (typeof value !== 'string') {
    if (String(value) === source) return source;
    if (typeof value === 'number') {
      // 1.10 and 0x1F would reach the container as 1.1 and 31, so the user must choose.
      return problems.error(node, 'is read as a number and would change: put it in quotes');
    }
    problems.warn(node, `is read as the boolean ${value}, as Compose does: put it in quotes if it is meant as text`);
    return String(value);
  }
  if (value.includes('\0'))
    return problems.error(node, 'contains a NUL character, which containers cannot receive: remove it');
  return value;
}

/** Reads text that is neither empty nor only spaces. */
export function readName(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  return text?.trim() === '' ? problems.error(node, 'is empty: give it a value, or remove it') : text;
}

export function readInteger(
  node: YamlNode,
  { min, max }: { min: number; max: number },
  problems: Problems,
): number | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  return problems.error(node, `must be a whole number from ${min} to ${max}, not ${quoted(text)}`);
}

export function readBoolean(node: YamlNode, problems: Problems): boolean | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  return problems.error(node, `must be true or false, not ${quoted(text)}`);
}

/** Reads the items of a list; none for an absent value (`ports:`). */
export function readList(node: YamlNode, problems: Problems): readonly YamlNode[] | undefined {
  if (node.kind === 'list') return node.items;
  return isEmpty(node) ? [] : problems.error(node, `must be a list, this is ${kindOf(node)}`);
}

/** Reads the entries of a map; none for an absent value (`volumes:`). */
export function readEntries(node: YamlNode, problems: Problems): readonly YamlEntry[] | undefined {
  if (node.kind === 'map') return node.entries;
  return isEmpty(node) ? [] : problems.error(node, `must be a map, this is ${kindOf(node)}`);
}

/** Reads a list, or a single item in its place. */
export function readListOrOne(node: YamlNode, problems: Problems): readonly YamlNode[] | undefined {
  return node.kind === 'scalar' && !isEmpty(node) ? [node] : readList(node, problems);
}

/** Reads a list of texts; returns undefined if one of them is not a text. */
export function readTextList(node: YamlNode, problems: Problems): string[] | undefined {
  const items = readList(node, problems);
  if (items === undefined) return undefined;
  const texts = items.flatMap((item) => readText(item, problems) ?? []);
  return texts.length === items.length ? texts : undefined;
}

/** Reads the entry's value with `read`; returns undefined if the key or its value is absent. */
export function optional<T>(
  fields: Fields,
  key: string,
  read: (node: YamlNode, problems: Problems) => T | undefined,
  problems: Problems,
): T | undefined {
  const entry = fields.get(key);
  return entry === undefined || isEmpty(entry.value) ? undefined : read(entry.value, problems);
}

/** Returns an empty map for an absent value (`volumes: { data: }`). */
export function emptyAsMap(node: YamlNode): YamlNode {
  if (!isEmpty(node)) return node;
  const { file, folder, path, line, column } = node;
  return { kind: 'map', file, folder, path, line, column, entries: [] } satisfies YamlMap;
}

export function isEmpty(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

export function kindOf(node: YamlNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  if (node.value === null) return 'empty';
  return typeof node.value === 'string' ? 'text' : `a ${typeof node.value}`;
}

/** Reasons that name an alternative contain it after a colon. */
function refusal(why: string): string {
  return `refused: ${why}${why.includes(': ') ? '' : ': remove it'}`;
}
