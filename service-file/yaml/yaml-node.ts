import { type SourcePosition, quoted } from '../problems.ts';

/** A YAML value with its position; aliases are filled in, and merge keys merged. */
export type YamlNode = YamlMap | YamlList | YamlScalar;

interface NodePosition extends SourcePosition {
  /** Folder to which relative paths in this value refer, from the repository's root; `''` for the root. */
  folder: string;
  /** `!reset` or `!override`: how the value is merged over another file's. Removed by merging. */
  tag?: 'reset' | 'override';
}

export interface YamlMap extends NodePosition {
  kind: 'map';
  entries: readonly YamlEntry[];
}

export interface YamlEntry {
  key: string;
  /** Position of the key. */
  at: SourcePosition;
  value: YamlNode;
}

export interface YamlList extends NodePosition {
  kind: 'list';
  items: readonly YamlNode[];
}

export interface YamlScalar extends NodePosition {
  kind: 'scalar';
  /** Variables are filled in after loading. */
  value: string | number | boolean | null;
  /** The text in the file, for example `1.10`, which is parsed as the number 1.1. */
  source: string;
}

/** Returns a child's path: `services.web`, with quotes for ambiguous keys: `services["my.app"]`. */
export function childPath(path: string, key: string): string {
  if (!/^[\w-]{1,63}$/.test(key)) return `${path}[${quoted(key.length > 60 ? `${key.slice(0, 60)}…` : key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Returns the value of a map's key; undefined if it is absent, or the node is not a map. */
export function valueAt(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
}

/** Returns a scalar's text in the file; undefined for an absent value, a map or a list. */
export function textOf(node: YamlNode | undefined): string | undefined {
  if (node?.kind !== 'scalar' || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
}
