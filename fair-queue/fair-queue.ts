import { Counts } from './counts.ts';

/**
 * The flow of waiting work, as in Kubernetes API Priority and Fairness (KEP-1040); slots are shared between tenants.
 */
export interface Flow {
  /** Who the work counts for, such as the account that created the group. */
  tenant: string;
  group: string;
  /** What can become unresponsive as a whole, such as a Git host. */
  host: string;
}

/** A group and its tenant. */
export type FlowOwner = Pick<Flow, 'tenant' | 'group'>;

/** Maximum numbers of items in execution; no limit if absent. */
export interface FlowLimits {
  total?: number;
  perTenant?: number;
  perGroup?: number;
  /** Limit per host name over all tenants. */
  perHost?: number;
}

/** A tenant, one of its groups, or a host of that group. */
class Level<T> {
  /** In the order in which they were last served, most recent last. */
  readonly children = new Map<string, Level<T>>();
  /** Waiting items; only hosts have any. */
  items: T[] = [];
  /** Waiting items that give way to `items`. */
  later = new Set<T>();
  /** Number of items taken since the last one of `later`. */
  taken = 0;
  waiting = 0;
  executing = 0;

  child(name: string): Level<T> {
    const child = this.children.get(name) ?? new Level<T>();
    this.children.set(name, child);
    return child;
  }

  /** Yields the children that have waiting items, those with the fewest items in execution first. */
  *neediestFirst(): Generator<[string, Level<T>]> {
    const busy: [string, Level<T>][] = [];
    for (const entry of this.children) {
      const [, { waiting, executing }] = entry;
      if (waiting === 0) continue;
      if (executing === 0) yield entry;
      else busy.push(entry);
    }
    yield* busy.sort(([, a], [, b]) => a.executing - b.executing);
  }

  /** Returns the next item of a host. */
  next(): T | undefined {
    const [later] = this.later;
    if (later !== undefined && (this.items.length === 0 || this.taken >= beforeLater)) {
      this.taken = 0;
      this.later.delete(later);
      return later;
    }
    this.taken += 1;
    return this.items.shift();
  }

  stopExecuting(): void {
    this.executing = 0;
    for (const [name, child] of this.children) {
      child.stopExecuting();
      if (child.waiting === 0) this.children.delete(name);
    }
  }

  copy(): Level<T> {
    const copy = new Level<T>();
    for (const [name, child] of this.children) copy.children.set(name, child.copy());
    copy.items = [...this.items];
    copy.later = new Set(this.later);
    copy.taken = this.taken;
    copy.waiting = this.waiting;
    copy.executing = this.executing;
    return copy;
  }
}

/** Number of items of a flow before one of those that give way, so that these are delayed but never forgotten. */
const beforeLater = 3;

/** Depth of hosts below the root: its children are tenants, then groups, then hosts. */
const hostDepth = 2;

/**
 * Takes waiting items with max-min fairness over tenants, then over the groups of a tenant, then over the hosts of a
 * group. The one with the fewest items in execution is next; if several have the same number, the one that was served
 * longest ago. Items of one flow keep their order, except that those pushed with `isLater` give way to three others each. A
 * flow at one of its limits is skipped.
 */
export class FairQueue<T extends object | string> {
  readonly #limits: Required<FlowLimits>;
  readonly #executingAtHost = new Counts();
  #root = new Level<T>();

  constructor(limits: FlowLimits = {}) {
    this.#limits = { total: Infinity, perTenant: Infinity, perGroup: Infinity, perHost: Infinity, ...limits };
  }

  /** Number of waiting items. */
  get size(): number {
    return this.#root.waiting;
  }

  /** Returns the number of waiting items of a tenant. */
  waitingOf(tenant: string): number {
    return this.#root.children.get(tenant)?.waiting ?? 0;
  }

  /** Number of items in execution. */
  get executing(): number {
    return this.#root.executing;
  }

  push(flow: Flow, item: T, { isLater = false } = {}): void {
    const path = this.#path(flow);
    for (const level of path) level.waiting += 1;
    if (isLater) path.at(-1)?.later.add(item);
    else path.at(-1)?.items.push(item);
  }

  /**
   * Returns the next item, which is in execution until finished() is called with its flow; undefined if none can start.
   */
  take(): T | undefined {
    if (this.#root.executing >= this.#limits.total) return undefined;
    const item = this.#takeBelow(this.#root, 0);
    if (item === undefined) return undefined;
    this.#root.waiting -= 1;
    this.#root.executing += 1;
    return item;
  }

  finished(flow: Flow): void {
    this.#changeExecuting(flow, -1);
    this.#prune(flow);
  }

  /** Removes a waiting item. */
  remove(flow: Flow, item: T): void {
    const path = this.#path(flow);
    const { items = [], later } = path.at(-1) ?? {};
    const wasLater = later?.delete(item) ?? false;
    const index = wasLater ? -1 : items.indexOf(item);
    if (index >= 0) items.splice(index, 1);
    if (wasLater || index >= 0) for (const level of path) level.waiting -= 1;
    this.#prune(flow);
  }

  /** Replaces the items in execution by these flows, for callers that observe them instead of calling finished(). */
  setExecuting(flows: readonly Flow[]): void {
    this.#root.stopExecuting();
    this.#executingAtHost.clear();
    for (const flow of flows) this.#changeExecuting(flow, 1);
  }

  /**
   * Returns the waiting items in the order in which they would be taken if there were no limits and nothing finished.
   */
  order(): T[] {
    const unlimited = new FairQueue<T>();
    unlimited.#root = this.#root.copy();
    const items: T[] = [];
    for (let item = unlimited.take(); item !== undefined; item = unlimited.take()) items.push(item);
    return items;
  }

  #takeBelow(parent: Level<T>, depth: number): T | undefined {
    for (const [name, level] of parent.neediestFirst()) {
      if (!this.#canExecute(name, level, depth)) continue;
      const item = depth === hostDepth ? level.next() : this.#takeBelow(level, depth + 1);
      if (item === undefined) continue;
      if (depth === hostDepth) this.#executingAtHost.add(name);
      level.waiting -= 1;
      level.executing += 1;
      parent.children.delete(name);
      parent.children.set(name, level);
      return item;
    }
    return undefined;
  }

  #canExecute(name: string, { executing }: Level<T>, depth: number): boolean {
    const { perTenant, perGroup, perHost } = this.#limits;
    if (depth === hostDepth) return this.#executingAtHost.of(name) < perHost;
    return executing < (depth === 0 ? perTenant : perGroup);
  }

  #changeExecuting(flow: Flow, by: 1 | -1): void {
    for (const level of this.#path(flow)) level.executing += by;
    this.#executingAtHost.add(flow.host, by);
  }

  /** Returns the root and the levels of the flow; creates missing ones. */
  #path({ tenant, group, host }: Flow): Level<T>[] {
    const ofTenant = this.#root.child(tenant);
    const ofGroup = ofTenant.child(group);
    return [this.#root, ofTenant, ofGroup, ofGroup.child(host)];
  }

  /** Removes the flow's levels that are empty. */
  #prune(flow: Flow): void {
    const path = this.#path(flow);
    for (const [index, name] of [flow.tenant, flow.group, flow.host].entries()) {
      const level = path[index + 1];
      if (level?.waiting === 0 && level.executing === 0) path[index]?.children.delete(name);
    }
  }
}
