import { type Place, quoted } from './problems.ts';

/** A YAML value with its place; aliases are filled in and merge keys are merged. */
export type YamlNode = YamlMap | YamlList | YamlScalar;

export interface YamlMap extends Place {
  kind: 'map';
  entries: readonly YamlEntry[];
}

export interface YamlEntry {
  key: string;
  /** Where the key stands. */
  at: Place;
  value: YamlNode;
}

export interface YamlList extends Place {
  kind: 'list';
  items: readonly YamlNode[];
}

export interface YamlScalar extends Place {
  kind: 'scalar';
  value: string | number | boolean | null;
  /** As it is written in the file; what `1.10` was before it became the number 1.1. */
  source: string;
}

/** `services.web`, or with what could be misread in quotes: `services["my.app"]`. */
export function childPath(path: string, key: string): string {
  if (!/^[\w-]{1,63}$/.test(key)) return `${path}[${quoted(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
