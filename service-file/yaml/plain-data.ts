import type { YamlNode } from './yaml-node.ts';

/** A tree as JavaScript values, without its places; `__proto__` is a key like any other. */
export function plainData(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainData);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainData(value)]));
}
