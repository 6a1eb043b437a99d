import { interpolate } from './interpolation.ts';
import { nearest } from './nearest.ts';
import type { Problems } from './problems.ts';
import { quoted } from './problems.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

/** Which keys a map may have. */
export interface KeyTable {
  /** What the map is, for messages: "a service". */
  of: string;
  supported: readonly string[];
  /** Keys that the Compose Specification (or Coppice's design) knows and Coppice does not support yet. */
  notYet: readonly string[];
  /** Keys without effect here, and why; they are told as a warning. */
  ignored?: ReadonlyMap<string, string>;
}

export type Fields = ReadonlyMap<string, YamlEntry>;

/** The supported entries of a map; every other key becomes an error or a warning, none is dropped in silence. */
export function readFields(node: YamlNode, table: KeyTable, problems: Problems): Fields | undefined {
  if (node.kind !== 'map') return problems.error(node, `${table.of} must be a map of keys, this is ${kindOf(node)}`);
  const fields = new Map<string, YamlEntry>();
  for (const entry of node.entries) {
    if (table.supported.includes(entry.key)) fields.set(entry.key, entry);
    else tellOtherKey(entry, table, problems);
  }
  return fields;
}

function tellOtherKey({ key, at }: YamlEntry, table: KeyTable, problems: Problems): void {
  const ignored = table.ignored?.get(key);
  if (ignored !== undefined) {
    problems.warn(at, `ignored: ${ignored}`);
  } else if (table.notYet.includes(key)) {
    problems.error(at, 'not supported yet: remove it');
  } else {
    const meant = nearest(key, [...table.supported, ...table.notYet, ...(table.ignored?.keys() ?? [])]);
    if (meant === undefined && key.startsWith('x-')) {
      problems.warn(at, 'ignored: it is not a key of Coppice (its anchors can be used)');
      return;
    }
    const hint = meant === undefined ? 'remove it' : `did you mean ${quoted(meant)}?`;
    problems.error(at, `${quoted(key)} is not a key of ${table.of}: ${hint}`);
  }
}

/** Text, with `$$` made `$`; a number or a boolean is taken as it is written, where that leaves no doubt. */
export function readText(node: YamlNode, problems: Problems): string | undefined {
  if (node.kind !== 'scalar') return problems.error(node, `must be text, this is ${kindOf(node)}`);
  const { value, source } = node;
  if (value === null) return problems.error(node, 'is empty: give it a value, or remove it');
  if (typeof value !== 'string') {
    // 1.10, 0x1F and True would reach the container as 1.1, 31 and true: the user has to say which is meant.
    return String(value) === source
      ? source
      : problems.error(node, `is read as a ${typeof value} and would be written another way: put it in quotes`);
  }
  if (value.includes('\0')) return problems.error(node, 'holds a NUL character, which cannot reach a container');
  const result = interpolate(value);
  if ('text' in result) return result.text;
  return problems.error(
    node,
    `holds ${result.unsupported}, and variables are not supported yet: write the value itself, or $$ for a plain $`,
  );
}

/** Text that says something: neither empty nor only spaces. */
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

export function readList(node: YamlNode, problems: Problems): readonly YamlNode[] | undefined {
  if (node.kind === 'list') return node.items;
  return problems.error(node, `must be a list, this is ${kindOf(node)}`);
}

/** A list of texts; undefined when one of them is not. */
export function readTextList(node: YamlNode, problems: Problems): string[] | undefined {
  const items = readList(node, problems);
  if (items === undefined) return undefined;
  const texts = items.flatMap((item) => readText(item, problems) ?? []);
  return texts.length === items.length ? texts : undefined;
}

/** The entry's value read by `read`, or undefined when the key is not there. */
export function optional<T>(
  fields: Fields,
  key: string,
  read: (node: YamlNode, problems: Problems) => T | undefined,
  problems: Problems,
): T | undefined {
  const entry = fields.get(key);
  return entry === undefined ? undefined : read(entry.value, problems);
}

export function isEmpty(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

export function kindOf(node: YamlNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  if (node.value === null) return 'empty';
  return typeof node.value === 'string' ? 'text' : `a ${typeof node.value}`;
}
