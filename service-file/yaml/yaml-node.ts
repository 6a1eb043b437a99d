import { type SourcePosition, quoted } from '../problems.ts';

/** A YAML value with its place; aliases are filled in and merge keys are merged. */
export type YamlNode = YamlMap | YamlList | YamlScalar;

interface NodePosition extends SourcePosition {
  /** What relative paths in this value start from: a folder from the repository's root, `''` the root itself. */
  folder: string;
  /** `!reset`, `!override`: how it is merged over another file's. Gone after merging. */
  tag?: 'reset' | 'override';
}

export interface YamlMap extends NodePosition {
  kind: 'map';
  entries: readonly YamlEntry[];
}

export interface YamlEntry {
  key: string;
  /** Where the key stands. */
  at: SourcePosition;
  value: YamlNode;
}

export interface YamlList extends NodePosition {
  kind: 'list';
  items: readonly YamlNode[];
}

export interface YamlScalar extends NodePosition {
  kind: 'scalar';
  /** Variables are filled in, after loading. */
  value: string | number | boolean | null;
  /** As it is written in the file; what `1.10` was before it became the number 1.1. */
  source: string;
}

/** `services.web`, or with what could be misread in quotes: `services["my.app"]`. */
export function childPath(path: string, key: string): string {
  if (!/^[\w-]{1,63}$/.test(key)) return `${path}[${quoted(key.length > 60 ? `${key.slice(0, 60)}…` : key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** The value of a map's key, undefined when it is not there, or the node is not a map. */
export function valueAt(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
}

/** A scalar as the file says it, undefined for nothing, a map or a list. */
export function textOf(node: YamlNode | undefined): string | undefined {
  if (node?.kind !== 'scalar' || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
}
