import type { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

/** The part of an informer that the API reads. Its objects are shared and must not be modified. */
export type ObjectCache<T extends KubernetesObject> = Pick<
  Informer<T>,
  'get' | 'byIndex' | 'observe' | 'waitFor' | 'addHandler'
>;
