/** Returns the items in parts of `size`; the last part has the rest. */
export function inSections<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_none, index) => items.slice(index * size, (index + 1) * size));
}

/** Returns whether two lists have the same objects in the same order. */
export function isSameItems<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
