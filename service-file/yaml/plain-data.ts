import type { YamlNode } from './yaml-node.ts';

/** Converts a tree to JavaScript values, without positions; `__proto__` is an ordinary key. */
export function plainData(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainData);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainData(value)]));
}
