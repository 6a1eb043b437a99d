import { isDeepStrictEqual } from 'node:util';
import { groupOfNamespace } from '../crds/ids.ts';
import type { Repository } from '../crds/repository.ts';
import { LABELS } from '../crds/labels.ts';
import type { Controller } from '../kubernetes/controller.ts';
import type { Informer } from '../kubernetes/informer.ts';
import { keyOf, objectKey, type KubernetesObject } from '../kubernetes/resource-type.ts';
import { environmentKeyOf, type OperatorCaches } from './caches.ts';

export interface Controllers {
  groups: Controller;
  repositories: Controller;
  environments: Controller;
}

/** Which change of what makes whom look. */
export function routeChanges(caches: OperatorCaches, { groups, repositories, environments }: Controllers): void {
  caches.groups.addHandler((_type, group, old) => {
    if (!isStatusOnly(group, old)) groups.enqueue(keyOf(group));
  });
  caches.repositories.addHandler((type, repository, old) => {
    if (isStatusOnly(repository, old)) return;
    if (type === 'deleted') enqueueGroupOf(repository);
    repositories.enqueue(keyOf(repository));
    for (const environment of environmentsOf(repository)) environments.enqueue(keyOf(environment));
  });
  caches.environments.addHandler((type, environment, old) => {
    if (!isStatusOnly(environment, old)) environments.enqueue(keyOf(environment));
    if (type !== 'deleted') return;
    // A Repository and a Group that are being deleted wait for the Environments to go.
    repositories.enqueue(objectKey(environment.metadata.namespace, environment.spec.repository));
    enqueueGroupOf(environment);
  });
  caches.namespaces.addHandler((_type, namespace) => {
    const environment = environmentKeyOf(namespace);
    const group = namespace.metadata.labels?.[LABELS.group];
    if (environment !== undefined) environments.enqueue(environment);
    else if (group !== undefined) groups.enqueue(group);
  });
  const owned = [caches.deployments, caches.services, caches.ingresses, caches.jobs, caches.pods];
  for (const cache of owned as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((_type, object) => {
      const environment = environmentKeyOf(object);
      if (environment !== undefined) environments.enqueue(environment);
    });
  }

  function enqueueGroupOf({ metadata }: KubernetesObject): void {
    const group = groupOfNamespace(metadata.namespace ?? '');
    if (group !== undefined) groups.enqueue(group);
  }

  function environmentsOf({ metadata }: Repository) {
    const inNamespace = caches.environments.byIndex('namespace', metadata.namespace ?? '');
    return inNamespace.filter(({ spec }) => spec.repository === metadata.name);
  }
}

/** What the operator itself wrote about an object is no reason to look at it again: backoff must not be passed by. */
export function isStatusOnly({ metadata }: KubernetesObject, old: KubernetesObject | undefined): boolean {
  if (!old) return false;
  const decisive = ({ uid, generation, deletionTimestamp, annotations, finalizers }: KubernetesObject['metadata']) => [
    ...[uid, generation, deletionTimestamp, annotations, finalizers],
  ];
  return isDeepStrictEqual(decisive(metadata), decisive(old.metadata));
}
