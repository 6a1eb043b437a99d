import type { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

/** What the API reads of an informer. Objects in it are shared: nobody changes them. */
export type ObjectCache<T extends KubernetesObject> = Pick<Informer<T>, 'get' | 'byIndex' | 'observe' | 'waitFor'>;
