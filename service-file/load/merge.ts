import type { Problems } from '../problems.ts';
import type { YamlEntry, YamlList, YamlMap, YamlNode } from '../yaml/yaml-node.ts';
import { type KeyOf, UNIQUE_LISTS } from './merge-keys.ts';
import { isReplaced, mergeable, shapeOf } from './merge-rules.ts';

/**
 * Merges `over` over `base` by the Compose Specification's rules: maps by their keys, lists appended, with the
 * exceptions of merge-rules.ts and merge-keys.ts. `path` is the path of both. `!reset` and `!override` in `over` take
 * effect and are kept, so that the result can be merged over another file; withoutTags() removes them. `base` has none.
 */
export function merge(base: YamlNode, over: YamlNode, path: readonly string[], problems: Problems): YamlNode {
  if (over.tag !== undefined) return over;
  if (isReplaced(path)) return over;
  if (over.kind === 'scalar' && over.value === null) return base;
  if (base.kind === 'scalar' && base.value === null) return over;
  const shape = shapeOf(path);
  const [below, above] = [mergeable(base, shape), mergeable(over, shape)];
  if (below.kind === 'map' && above.kind === 'map') {
    return isOtherLogging(below, above, shape) ? above : mergeMaps(below, above, path, problems);
  }
  if (below.kind === 'list' && above.kind === 'list') return mergeLists(below, above, UNIQUE_LISTS.get(shape));
  if (below.kind === 'scalar' && above.kind === 'scalar') return above;
  problems.error(
    over,
    `is a ${over.kind}, and in ${base.file} on line ${base.line} it is a ${base.kind}: write both alike, or !override before this one`,
  );
  return over;
}

function mergeMaps(base: YamlMap, over: YamlMap, path: readonly string[], problems: Problems): YamlMap {
  const entries = new Map(base.entries.map((entry) => [entry.key, entry]));
  for (const entry of over.entries) {
    const below = entries.get(entry.key);
    const value = below === undefined ? entry.value : merge(below.value, entry.value, [...path, entry.key], problems);
    entries.set(entry.key, { ...entry, value });
  }
  return { ...over, entries: [...entries.values()] };
}

/** Merges lists: an item replaces the one with the same key. */
function mergeLists(base: YamlList, over: YamlList, keyOf: KeyOf | undefined): YamlList {
  if (keyOf === undefined) return { ...over, items: [...base.items, ...over.items] };
  const items = new Map<unknown, YamlNode>();
  for (const item of [...base.items, ...over.items]) items.set(keyOf(item) ?? item, item);
  return { ...over, items: [...items.values()] };
}

/** Returns whether the logging drivers differ; the options of one driver do not apply to another. */
function isOtherLogging(base: YamlMap, over: YamlMap, shape: string): boolean {
  if (shape !== 'services.*.logging') return false;
  const driver = ({ entries }: YamlMap) => {
    const value = entries.find(({ key }) => key === 'driver')?.value;
    return value?.kind === 'scalar' ? value.value : undefined;
  };
  const [below, above] = [driver(base), driver(over)];
  return below !== undefined && above !== undefined && below !== above;
}

/** Returns the final tree: removes `!reset` values and the tags of `!override` ones. */
export function withoutTags(node: YamlNode): YamlNode | undefined {
  if (node.tag === 'reset') return undefined;
  const plain = { ...node };
  delete plain.tag;
  if (plain.kind === 'map') return { ...plain, entries: plain.entries.flatMap(entryWithoutTags) };
  if (plain.kind === 'list') return { ...plain, items: plain.items.flatMap((item) => withoutTags(item) ?? []) };
  return plain;
}

function entryWithoutTags(entry: YamlEntry): YamlEntry[] {
  const value = withoutTags(entry.value);
  return value === undefined ? [] : [{ ...entry, value }];
}
