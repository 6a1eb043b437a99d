import type { Problems } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { isEmpty, readList, readName, readText } from './read.ts';

/** Reads `labels`: a map, or a list of `name=value`, sorted by name. A missing value is an empty text. */
export function readLabels(node: YamlNode, problems: Problems): Record<string, string> | undefined {
  const labels = new Map<string, string>();
  if (node.kind === 'map') {
    for (const { key, value } of node.entries) {
      const text = isEmpty(value) ? '' : readText(value, problems);
      if (text !== undefined) labels.set(key, text);
    }
  } else {
    for (const item of readList(node, problems) ?? []) {
      const text = readName(item, problems);
      const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text ?? '') ?? [];
      if (name !== '') labels.set(name, value);
    }
  }
  labels.delete('__proto__');
  return Object.fromEntries([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
}
