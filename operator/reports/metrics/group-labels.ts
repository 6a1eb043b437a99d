/** Stands for all groups beyond the first ones; no group can have this name. */
export const OTHER_GROUPS = '(other)';

/**
 * Bounds the values of a label `group`: users create groups, and each would cost every series another time. The first
 * ones that are counted keep their names; a place is free again when a group is deleted.
 */
export class GroupLabels {
  readonly #named = new Set<string>();
  readonly #max: number;

  constructor(max = 100) {
    this.#max = max;
  }

  labelOf(group: string): string {
    if (this.#named.has(group)) return group;
    if (this.#named.size >= this.#max) return OTHER_GROUPS;
    this.#named.add(group);
    return group;
  }

  forget(group: string): void {
    this.#named.delete(group);
  }
}
