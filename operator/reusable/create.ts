import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import { REUSABLE_ENVIRONMENT } from '../../crds/reusable-environment.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import type { OperatorCaches } from '../caches.ts';
import type { EnvironmentStatuses } from '../environment/statuses.ts';
import type { OperatorParts } from '../parts.ts';
import { StatusWriter } from '../status-writer.ts';
import { LostVolumes } from './lost-volumes.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import { Publishing } from './publishing.ts';
import { ReusableReconciler } from './reconciler.ts';
import { Reusables } from './reusables.ts';
import { Reusing } from './reusing.ts';
import { Seeding } from './seeding.ts';
import { ReusableStore } from './store.ts';
import { VolumeCopies } from './volume-copies.ts';

export function createReusables({ client, caches, now }: OperatorParts): Reusables {
  const { reusables, repositories } = caches;
  return new Reusables({ client, reusables, repositories, statuses: reusableStatuses({ client, caches }), now });
}

/** For the Environments' reconciler. */
export function createReusing(parts: OperatorParts, reusables: Reusables, statuses: EnvironmentStatuses): Reusing {
  const { client, applier, caches, config } = parts;
  const { jobDeadlineSeconds, rolloutDeadlineSeconds, volumes, quota, reusableQuota, scheduling } = config.environments;
  const settings = { image: config.builder.cloneImage, deadlineSeconds: jobDeadlineSeconds, scheduling };
  const copies = new VolumeCopies(client, caches, settings);
  const store = new ReusableStore({ ...caches, client, applier });
  const seeding = new Seeding({ reusables, copies, statuses, volumes, quota });
  const publishing = new Publishing({
    ...caches,
    reusables,
    store,
    copies,
    statuses,
    rolloutDeadlineSeconds,
    storeQuota: reusableQuota,
  });
  return new Reusing(seeding, publishing, copies);
}

export function createReusableReconciler(parts: OperatorParts, reusables: Reusables): ReusableReconciler {
  const { client, caches, now } = parts;
  return new ReusableReconciler({ ...caches, client, reusables, statuses: reusableStatuses(parts), now });
}

export function createLostVolumes({ client, caches }: OperatorParts): LostVolumes {
  return new LostVolumes({ ...caches, client });
}

interface Controllers {
  environments: Controller;
  reusables: Controller;
  lostVolumes: Controller;
}

/** Which change of what makes whom look. */
export function routeReusables(caches: OperatorCaches, { environments, reusables, lostVolumes }: Controllers): void {
  const wakeEnvironment = ({ metadata }: KubernetesObject) => {
    const key = metadata.annotations?.[REUSABLE_ANNOTATIONS.environment];
    if (key !== undefined) environments.enqueue(key);
  };
  caches.reusables.addHandler((_type, reusable) => reusables.enqueue(keyOf(reusable)));
  for (const cache of [caches.jobs, caches.movingVolumes] as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((_type, object) => wakeEnvironment(object));
  }
  caches.volumeClaims.addHandler((_type, claim) => {
    wakeEnvironment(claim);
    const { [LABELS.group]: group, [LABELS.reusable]: reusable } = claim.metadata.labels ?? {};
    if (group !== undefined && reusable !== undefined) reusables.enqueue(objectKey(groupNamespace(group), reusable));
  });
  caches.movingVolumes.addHandler((type, volume) => {
    if (type !== 'deleted') lostVolumes.enqueue(volume.metadata.name);
  });
}

function reusableStatuses({ client, caches }: Pick<OperatorParts, 'client' | 'caches'>) {
  return new StatusWriter<ReusableEnvironment>(client, REUSABLE_ENVIRONMENT, caches.reusables);
}
