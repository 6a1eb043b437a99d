import { ENVIRONMENT, type Environment } from '../../../crds/environment.ts';
import { REPOSITORY, type Repository } from '../../../crds/repository.ts';
import { apiVersionOf, type KubernetesObject, type ResourceType } from '../../../kubernetes/resource-type.ts';
import type { EventNote, EventRecorder } from '../../../kubernetes/event-recorder.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { environmentEvents } from './environment-events.ts';
import { repositoryEvents } from './repository-events.ts';

/** Returns a function that records that an Environment is deleted with its ref; its status does not show it. */
export function reportRefGone(recorder: Pick<EventRecorder, 'record'>): (environment: Environment) => void {
  const note = 'the object is deleted: its ref no longer exists at the Git host, or is not one of those that are kept';
  return (environment) =>
    recorder.record(regarding(ENVIRONMENT, environment), { type: 'Normal', reason: 'RefGone', note });
}

/** Records that somebody changed an Environment's isolation policies and the operator restored them. */
export function recordRestored(
  recorder: Pick<EventRecorder, 'record'>,
): (of: { environment: Environment; namespace: string }, what: string) => void {
  return ({ environment, namespace }, what) =>
    recorder.record(regarding(ENVIRONMENT, environment), {
      type: 'Warning',
      reason: 'IsolationRestored',
      note: `the ${what} in ${namespace} were changed or deleted by somebody else, and have been restored`,
    });
}

/**
 * Reports what happens to Environments and Repositories by comparing their versions. Earlier changes have been reported
 * by the previous leader.
 */
export function createEventReporters(
  {
    environments,
    repositories,
  }: {
    environments: Pick<Informer<Environment>, 'addHandler'>;
    repositories: Pick<Informer<Repository>, 'addHandler'>;
  },
  recorder: Pick<EventRecorder, 'record'>,
): void {
  report(environments, ENVIRONMENT, environmentEvents, recorder);
  report(repositories, REPOSITORY, repositoryEvents, recorder);
}

function report<T extends KubernetesObject>(
  cache: Pick<Informer<T>, 'addHandler'>,
  type: ResourceType,
  plan: (old: T | undefined, now: T) => EventNote[],
  recorder: Pick<EventRecorder, 'record'>,
): void {
  cache.addHandler((change, object, old) => {
    // A new object has no changes to report; its first status is one.
    if (change !== 'updated' || old?.metadata.uid !== object.metadata.uid) return;
    for (const reported of plan(old, object)) recorder.record(regarding(type, object), reported);
  });
}

function regarding(type: ResourceType, { metadata }: KubernetesObject): KubernetesObject {
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
}
