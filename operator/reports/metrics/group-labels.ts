/** Label value for all groups beyond the limit; not a valid group name. */
export const OTHER_GROUPS = '(other)';

/**
 * Limits the values of the label `group`: users create groups, and each one adds a time series to every metric. The
 * first groups keep their names; deleting a group frees a name.
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
