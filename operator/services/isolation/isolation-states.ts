import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf, type KubernetesObject } from '../../../kubernetes/resource-type.ts';
import type { IsolationObject } from './isolation-objects.ts';
import { reduced, type IsolationKind, type ObjectState } from './object-state.ts';

export type IsolationCaches = Record<IsolationKind, Pick<Informer<ObjectState>, 'get' | 'observe'>>;

/** The state of isolation policies as observed by the watches. */
export class IsolationStates {
  readonly #caches: IsolationCaches;

  constructor(caches: IsolationCaches) {
    this.#caches = caches;
  }

  /** Returns the objects' states in their order; undefined if one of them is missing. */
  find(objects: readonly IsolationObject[]): string[] | undefined {
    const states = objects.flatMap((object) => this.#caches[kindOf(object)].get(keyOf(object))?.state ?? []);
    return states.length === objects.length ? states : undefined;
  }

  /** Records what this process has just applied, before the watch reports it; returns its state. */
  applied(kind: IsolationKind, object: KubernetesObject): string {
    const held = reduced(kind, object);
    this.#caches[kind].observe(held);
    return held.state;
  }
}

export function kindOf({ kind }: IsolationObject): IsolationKind {
  return kind as IsolationKind;
}
