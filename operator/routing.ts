import { isDeepStrictEqual } from 'node:util';
import { groupNamespace, groupOfNamespace } from '../crds/ids.ts';
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
    if (group.metadata.uid !== old?.metadata.uid) enqueueAllOf(groupNamespace(group.metadata.name));
  });
  caches.repositories.addHandler((type, repository, old) => {
    if (isStatusOnly(repository, old)) return;
    if (type === 'deleted') enqueueGoingGroupOf(repository);
    repositories.enqueue(keyOf(repository));
    // A request to look at its refs, which every push makes, concerns no environment yet.
    if (isSameVersion(repository, old)) return;
    for (const environment of caches.environments.byIndex('repository', keyOf(repository)))
      environments.enqueue(keyOf(environment));
  });
  caches.environments.addHandler((type, environment, old) => {
    if (!isStatusOnly(environment, old)) environments.enqueue(keyOf(environment));
    if (type !== 'deleted') return;
    // A Repository that is being deleted waits for its Environments to go.
    const repository = caches.repositories.get(objectKey(environment.metadata.namespace, environment.spec.repository));
    if (repository?.metadata.deletionTimestamp !== undefined) repositories.enqueue(keyOf(repository));
    enqueueGoingGroupOf(environment);
  });
  caches.reusables.addHandler((type, reusable) => {
    if (type === 'deleted') enqueueGoingGroupOf(reusable);
  });
  caches.namespaces.addHandler((_type, namespace, old) => {
    enqueueOwner(namespace);
    // Somebody may have made it another one's by its labels.
    if (old) enqueueOwner(old);
    const { name, labels, annotations } = namespace.metadata;
    const isSame = old && isDeepStrictEqual([labels, annotations], [old.metadata.labels, old.metadata.annotations]);
    if (groupOfNamespace(name) !== undefined && !isSame) enqueueAllOf(name);
  });
  for (const cache of [caches.isolationPolicies, caches.limitRanges, caches.resourceQuotas]) {
    cache.addHandler((type, object, old) => {
      if (type === 'updated' && object.state === old?.state) return;
      const namespace = caches.namespaces.get(object.metadata.namespace ?? '');
      if (namespace && namespace.metadata.deletionTimestamp === undefined) enqueueOwner(namespace);
    });
  }
  caches.roleBindings.addHandler((_type, binding) => enqueueOwner(binding));
  // Where a group's reusable environments keep their volumes, the policy is the group's.
  caches.networkPolicies.addHandler((_type, policy) => enqueueOwner(policy));
  const { deployments, services, ingresses, jobs, volumeClaims, pods } = caches;
  const owned = [deployments, services, ingresses, jobs, volumeClaims, pods];
  for (const cache of owned as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((_type, object) => {
      const environment = environmentKeyOf(object);
      if (environment !== undefined) environments.enqueue(environment);
    });
  }

  /** What lies in a namespace waits for it to belong to a Group. */
  function enqueueAllOf(namespace: string): void {
    for (const one of caches.repositories.byIndex('namespace', namespace)) repositories.enqueue(keyOf(one));
    for (const one of caches.environments.byIndex('namespace', namespace)) environments.enqueue(keyOf(one));
  }

  function enqueueOwner(object: KubernetesObject): void {
    const environment = environmentKeyOf(object);
    const group = object.metadata.labels?.[LABELS.group];
    if (environment !== undefined) environments.enqueue(environment);
    else if (group !== undefined) groups.enqueue(group);
  }

  /** A Group that is being deleted waits for what it has to go. */
  function enqueueGoingGroupOf({ metadata }: KubernetesObject): void {
    const group = caches.groups.get(groupOfNamespace(metadata.namespace ?? '') ?? '');
    if (group?.metadata.deletionTimestamp !== undefined) groups.enqueue(keyOf(group));
  }
}

/** A request to look at a Repository's refs, and what the operator writes, leave it the same version. */
export function isSameVersion({ metadata: now }: Repository, old: Repository | undefined): boolean {
  return now.uid === old?.metadata.uid && now.generation === old?.metadata.generation;
}

/** What the operator itself wrote about an object is no reason to look at it again: backoff must not be passed by. */
export function isStatusOnly({ metadata }: KubernetesObject, old: KubernetesObject | undefined): boolean {
  if (!old) return false;
  const decisive = ({ uid, generation, deletionTimestamp, annotations, finalizers }: KubernetesObject['metadata']) => [
    ...[uid, generation, deletionTimestamp, annotations, finalizers],
  ];
  return isDeepStrictEqual(decisive(metadata), decisive(old.metadata));
}
