import { LABELS } from '../../../crds/labels.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { type Deployment, objectKey, type PersistentVolumeClaim, type Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { outlookOf, type Outlook } from '../diagnosis/certain-failure.ts';
import { byAge, lastTermination, restartsOf, serviceDiagnosis } from '../diagnosis/service-diagnosis.ts';
import { firstRecovery, recoversAt } from '../diagnosis/recovery.ts';
import { imageOf, isJob, type WorkloadContext } from '../objects/input.ts';
import { namedVolumes } from '../objects/mounts.ts';
import { claimName } from '../objects/volumes.ts';
import { CheckOutputs } from './check-outputs.ts';
import type { ServiceProgress } from './progress.ts';
import { openDependencies, type Reached } from './rollout.ts';
import { serviceFacts } from './service-facts.ts';

/** What the services have reached in one pass of a rollout. */
export interface ReachedServices extends Reached {
  /** The services that run as they should, and the jobs that have completed. */
  up: ReadonlySet<string>;
  /** By service, why its job has failed. */
  failures: ReadonlyMap<string, string>;
  /** By service, why its job does not progress. */
  diagnoses: ReadonlyMap<string, string>;
}

interface ReportCaches {
  deployments: Informer<Deployment>;
  volumeClaims: Informer<PersistentVolumeClaim>;
  pods: Informer<Pod>;
}

/** Returns the report of a service that is not meant to run. */
export function stoppedService(
  context: WorkloadContext,
  service: Service,
  { isReady }: { isReady: boolean },
): ServiceProgress {
  const { name } = service;
  return { name, image: imageOf(context, service), ready: isReady, ...serviceFacts(context, service) };
}

/** Reports from the caches what the services of an environment do, and why they are not ready. */
export class ServiceReports {
  readonly #caches: ReportCaches;
  readonly #checkOutputs: CheckOutputs;

  constructor(client: Pick<ClusterClient, 'list'>, caches: ReportCaches) {
    this.#caches = caches;
    this.#checkOutputs = new CheckOutputs(client);
  }

  /** Returns the report of each service during a rollout. */
  of(context: WorkloadContext, reached: ReachedServices): Promise<ServiceProgress[]> {
    return Promise.all(context.serviceFile.services.map((service) => this.#report(context, service, reached)));
  }

  /** Returns the earliest certain failure of the awaited services. */
  outlook(context: WorkloadContext, waiting: ReadonlySet<string>): Outlook | undefined {
    const { namespace, rolloutSince: since } = context;
    if (!since) return undefined;
    const outlooks = context.serviceFile.services
      .filter(({ name }) => waiting.has(name))
      .map((service) => outlookOf({ since, ...this.#observed(namespace, service) }));
    const failures = outlooks.flatMap(({ failsAt }) => failsAt?.getTime() ?? []);
    const retries = outlooks.flatMap(({ retriesAt }) => retriesAt?.getTime() ?? []);
    return {
      ...(failures.length > 0 && { failsAt: new Date(Math.min(...failures)) }),
      ...(retries.length > 0 && { retriesAt: new Date(Math.max(...retries)) }),
    };
  }

  /** Returns whether each pod of the service that has crashed has run long enough to count as ready. */
  hasRecovered({ namespace, now }: WorkloadContext, { name }: Service): boolean {
    return this.#remainingPodsOf(namespace, name).every((pod) => recoversAt(pod, now) === undefined);
  }

  /** Returns when the first restarted pod will have run long enough to count as ready; undefined if none is to. */
  recoversAt({ namespace, now, serviceFile }: WorkloadContext): Date | undefined {
    const continuous = serviceFile.services.filter((service) => !isJob(service));
    return firstRecovery(
      continuous.flatMap(({ name }) => this.#remainingPodsOf(namespace, name)),
      now,
    );
  }

  /** Returns the service's pods, including terminating ones. */
  podsOf(namespace: string, service: string): Pod[] {
    return this.#caches.pods
      .byIndex('namespace', namespace)
      .filter(({ metadata }) => metadata.labels?.[LABELS.service] === service);
  }

  async #report(context: WorkloadContext, service: Service, reached: ReachedServices): Promise<ServiceProgress> {
    const { name } = service;
    const ready = reached.up.has(name);
    const pods = isJob(service) ? [] : this.#remainingPodsOf(context.namespace, name);
    const restarts = restartsOf(pods);
    const termination = lastTermination(pods);
    const message = ready ? undefined : await this.#whyNotReady(context, service, reached);
    return {
      name,
      image: imageOf(context, service),
      ready,
      ...(restarts > 0 && { restarts }),
      ...(termination && { lastTermination: termination }),
      ...(message !== undefined && { message }),
      ...serviceFacts(context, service),
    };
  }

  async #whyNotReady(
    context: WorkloadContext,
    service: Service,
    reached: ReachedServices,
  ): Promise<string | undefined> {
    const known = reached.failures.get(service.name) ?? reached.diagnoses.get(service.name);
    if (known !== undefined) return known;
    const open = openDependencies(service, reached);
    if (open.length > 0) {
      return `waits for ${open.map(({ service: name, condition }) => `${name} (${condition})`).join(', ')}`;
    }
    const observed = this.#observed(context.namespace, service);
    // Only the output of the newest pod is read; its diagnosis comes first.
    const [newest] = byAge(observed.pods);
    const output = newest && (await this.#checkOutputs.of(newest, context.now));
    const checkOutputs = new Map(output === undefined ? [] : [[newest?.metadata.uid ?? '', output]]);
    return serviceDiagnosis({ isJob: isJob(service), ...observed, checkOutputs, now: context.now });
  }

  #observed(namespace: string, service: Service) {
    const { deployments, volumeClaims } = this.#caches;
    return {
      pods: this.#remainingPodsOf(namespace, service.name),
      deployment: deployments.get(objectKey(namespace, service.name)),
      claims: namedVolumes(service).flatMap((volume) => {
        const claim = volumeClaims.get(objectKey(namespace, claimName(volume)));
        return claim ? [claim] : [];
      }),
    };
  }

  #remainingPodsOf(namespace: string, service: string): Pod[] {
    return this.podsOf(namespace, service).filter(({ metadata }) => !metadata.deletionTimestamp);
  }
}
