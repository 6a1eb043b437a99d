import { LABELS } from '../../../crds/labels.ts';
import { settled } from '../../shared/settled.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import {
  Deployment,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Service as KubernetesService,
  type Pod,
} from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { deployment } from '../objects/deployment.ts';
import { gateService, type AccessContext } from '../objects/access.ts';
import { aliasUrls } from '../objects/ingress.ts';
import { isJob, type WorkloadContext, type WorkloadInput, type WorkloadSettings } from '../objects/input.ts';
import { JobRuns, type JobOutcome } from './job-runs.ts';
import { jobName } from '../objects/job.ts';
import type { RolloutProgress, ServiceProgress, SetUpServices, StoppingServices } from './progress.ts';
import { PublicHosts, type PublicHostCaches } from './public-hosts.ts';
import { isServicePolicy, networkPolicies } from '../objects/network-policies.ts';
import {
  hasLeavingPods,
  isRolledOut,
  isStarted,
  startableServices,
  stoppableServices,
  withDependenciesOfJobs,
} from './rollout.ts';
import { ServiceReports, stoppedService, type ReachedServices } from './service-reports.ts';
import { kubernetesServices } from '../objects/service.ts';
import { claim, volumesOf } from '../objects/volumes.ts';
import { publicFront, type PublicFront } from '../front/known-environment.ts';
import { WakerFront, type WakerCaches } from '../front/waker-front.ts';
import { WorkloadObjects, type WorkloadClient } from '../objects/workload-objects.ts';

export interface WorkloadCaches extends PublicHostCaches, WakerCaches {
  deployments: Informer<Deployment>;
  services: Informer<KubernetesService>;
  jobs: Informer<Job>;
  networkPolicies: Informer<NetworkPolicy>;
  volumeClaims: Informer<PersistentVolumeClaim>;
  pods: Informer<Pod>;
}

interface ServiceOutcome extends JobOutcome {
  service: Service;
  /** Whether its Deployment is available, which without a readiness probe it also is between two crashes. */
  isRunning: boolean;
  /** Whether no pod of an earlier version remains that dependents could connect to. */
  isAlone: boolean;
}

/**
 * Manages the objects of an environment's services: creates them, watches until they run, and deletes those that the
 * service file no longer names.
 */
export class WorkloadSet {
  readonly #settings: WorkloadSettings;
  readonly #deployments: WorkloadObjects<Deployment>;
  readonly #services: WorkloadObjects<KubernetesService>;
  readonly #hosts: PublicHosts;
  readonly #wakers: WakerFront;
  readonly #jobs: WorkloadObjects<Job>;
  readonly #policies: WorkloadObjects<NetworkPolicy>;
  readonly #claims: WorkloadObjects<PersistentVolumeClaim>;
  readonly #pods: Informer<Pod>;
  readonly #runs: JobRuns;
  readonly #reports: ServiceReports;

  constructor(client: WorkloadClient, applier: Applier, caches: WorkloadCaches, settings: WorkloadSettings) {
    this.#settings = settings;
    this.#deployments = new WorkloadObjects(client, applier, Deployment, caches.deployments);
    this.#services = new WorkloadObjects(client, applier, KubernetesService, caches.services);
    this.#hosts = new PublicHosts(client, applier, caches);
    this.#wakers = new WakerFront(client, applier, caches);
    this.#jobs = new WorkloadObjects(client, applier, Job, caches.jobs);
    this.#policies = new WorkloadObjects(client, applier, NetworkPolicy, caches.networkPolicies, { replaces: true });
    this.#claims = new WorkloadObjects(client, applier, PersistentVolumeClaim, caches.volumeClaims);
    this.#pods = caches.pods;
    this.#runs = new JobRuns(client, this.#jobs, this.#claims, caches.pods);
    this.#reports = new ServiceReports(client, caches);
  }

  /** Creates everything that the services need without running them. Throws Stalled when a quota is exceeded. */
  async setUp(input: WorkloadInput): Promise<SetUpServices> {
    const context = { ...input, settings: this.#settings };
    await this.#provide(context);
    const running = input.serviceFile.services.filter((service) => !isJob(service));
    await settled(running.map((service) => this.#deployments.apply(deployment(context, service, 0))));
    return {
      services: input.serviceFile.services.map((service) => stoppedService(context, service, { isReady: false })),
      aliases: this.#aliases(context),
    };
  }

  /**
   * Runs the services, each as soon as its dependencies permit. Called again when objects change. Throws as setUp().
   */
  async rollOut(input: WorkloadInput): Promise<RolloutProgress> {
    const context = { ...input, settings: this.#settings };
    const { services } = input.serviceFile;
    // Before the Services leave their visit ports to the waker.
    if (context.visits === 'watched') await this.#wakers.add(context, { isRunning: true });
    await this.#provide(context);
    const up = new Set<string>();
    const launched = new Set<string>();
    const started = new Set<string>();
    const healthy = new Set<string>();
    const completed = new Set<string>();
    const failures = new Map<string, string>();
    const diagnoses = new Map<string, string>();
    const reached = { up, launched, started, healthy, completed, failures, diagnoses };
    // A service that already runs as it should does not wait for its dependencies again.
    let next = services.filter((service) => this.#isStarted(context, service));
    const inOrder = withDependenciesOfJobs(services);
    while (next.length > 0 || (next = startableServices(inOrder, reached)).length > 0) {
      const outcomes = await settled(next.map((service) => this.#run(context, service)));
      for (const { service, isRunning, isUp, isAlone, failure, diagnosis } of outcomes) {
        launched.add(service.name);
        if (isUp) up.add(service.name);
        if (isStarted(service, isRunning && isAlone)) started.add(service.name);
        if (isUp && isAlone) healthy.add(service.name);
        if (isUp && isJob(service)) completed.add(service.name);
        if (failure !== undefined) failures.set(service.name, failure);
        if (diagnosis !== undefined) diagnoses.set(service.name, diagnosis);
      }
      next = [];
    }
    const progress = await this.#progress(context, reached);
    return { ...progress, wakers: await this.#leaveWakers(context, up) };
  }

  /** Takes the waker away from running services, unless it is to watch for their visitors. */
  async #leaveWakers(context: WorkloadContext, up: ReadonlySet<string>): Promise<RolloutProgress['wakers']> {
    if (!this.#wakers.isThere(context)) return 'none';
    if (context.visits === 'watched') return 'watching';
    await this.#wakers.remove(context, up);
    // Also if it is away now: requests that it holds need the pods, which an operator that has just started has not reported yet.
    return 'leaving';
  }

  /** Returns the routes and the ready pods of the public services. */
  front(input: WorkloadInput): PublicFront {
    return publicFront({ ...input, settings: this.#settings }, this.#pods);
  }

  /**
   * Stops the services, each when nothing that depends on it runs any longer; jobs that run are left to end. Returns the
   * services that still run. Called again when objects change. Throws as setUp().
   */
  async stop(input: WorkloadInput): Promise<StoppingServices> {
    const context = { ...input, settings: this.#settings };
    const { services } = input.serviceFile;
    // Before the Services leave their visit ports to the waker, and before the pods end: requests always find somebody.
    await this.#wakers.add(context, { isRunning: false });
    await this.#provide(context);
    const continuous = withDependenciesOfJobs(services).filter((service) => !isJob(service));
    const asked = new Set<string>();
    const stopped = new Set<string>();
    let next: Service[];
    while ((next = stoppableServices(continuous, { asked, stopped })).length > 0) {
      const outcomes = await settled(next.map((service) => this.#stop(context, service)));
      for (const { name, isStopped } of outcomes) {
        asked.add(name);
        if (isStopped) stopped.add(name);
      }
    }
    return {
      services: services.map((service) =>
        stoppedService(context, service, { isReady: isJob(service) && this.#runs.hasCompleted(context, service) }),
      ),
      aliases: this.#aliases(context),
      running: continuous.filter(({ name }) => !stopped.has(name)).map(({ name }) => name),
    };
  }

  /** Restricts who can open hosts that are already published. */
  restrict(input: Omit<AccessContext, 'settings'>): Promise<void> {
    return this.#hosts.restrict({ ...input, settings: this.#settings });
  }

  /** Makes the environment unreachable from outside. */
  unpublish(namespace: string): Promise<void> {
    return this.#hosts.unpublish(namespace);
  }

  /**
   * Deletes the objects of services, jobs and builds that no longer exist. Volumes are kept: their data belongs to the
   * user and is deleted only with the contents.
   */
  async prune(input: WorkloadInput): Promise<void> {
    const context = { ...input, settings: this.#settings };
    const { namespace } = input;
    const { services } = input.serviceFile;
    const jobs = services.filter(isJob);
    const running = new Set(services.filter((service) => !isJob(service)).map(({ name }) => name));
    const addresses = namesOf(addressesOf(context));
    const policies = namesOf(networkPolicies(context));
    const runs = new Set(jobs.map((service) => jobName(context, service)));
    await this.#deployments.prune(namespace, ({ metadata }) => running.has(metadata.name));
    await this.#services.prune(namespace, ({ metadata }) => addresses.has(metadata.name));
    await this.#hosts.prune(context);
    await this.#wakers.prune(context);
    await this.#policies.prune(namespace, (policy) => !isServicePolicy(policy) || policies.has(policy.metadata.name));
    await this.#jobs.prune(namespace, (job) => !isServiceJob(job) || runs.has(job.metadata.name));
  }

  /** Creates what services need before they run: volumes, addresses and network policies. */
  async #provide(context: WorkloadContext): Promise<void> {
    await settled<unknown>([
      ...volumesOf(context).map((volume) => this.#claims.createOnce(claim(context, volume))),
      ...networkPolicies(context).map((policy) => this.#policies.apply(policy)),
      ...addressesOf(context).map((address) => this.#services.apply(address)),
      this.#hosts.publish(context),
    ]);
  }

  #isStarted(context: WorkloadContext, service: Service): boolean {
    if (isJob(service)) return this.#runs.isStarted(context, service);
    return this.#deployments.isApplied(deployment(context, service, service.replicas));
  }

  async #run(context: WorkloadContext, service: Service): Promise<ServiceOutcome> {
    if (isJob(service)) return { service, isRunning: true, isAlone: true, ...(await this.#runs.run(context, service)) };
    const live = await this.#deployments.apply(deployment(context, service, service.replicas));
    const pods = this.#reports.podsOf(context.namespace, service.name);
    const isRunning = isRolledOut(live);
    const isUp = isRunning && this.#reports.hasRecovered(context, service);
    return { service, isRunning, isUp, isAlone: !hasLeavingPods(live, pods) };
  }

  async #stop(context: WorkloadContext, service: Service): Promise<{ name: string; isStopped: boolean }> {
    const { name } = service;
    const live = await this.#deployments.apply(deployment(context, service, 0));
    // A Deployment that has just been changed, and had no pods before, starts none.
    const isStopped = (live.status?.replicas ?? 0) === 0 && this.#reports.podsOf(context.namespace, name).length === 0;
    return { name, isStopped };
  }

  async #progress(context: WorkloadContext, reached: ReachedServices): Promise<Omit<RolloutProgress, 'wakers'>> {
    const services = await this.#reports.of(context, reached);
    const waiting = services.filter(({ ready }) => !ready);
    const line = ({ name, message }: ServiceProgress) => (message === undefined ? name : `${name}: ${message}`);
    const waitingFor = [...waiting.map(line), ...this.#hosts.refusals(context)];
    return {
      services,
      aliases: this.#aliases(context),
      done: waitingFor.length === 0,
      waitingFor,
      failures: services.filter(({ name }) => reached.failures.has(name)).map(line),
      jobsEndAt: this.#runs.lastEnd(context),
      recoversAt: this.#reports.recoversAt(context),
      outlook: this.#reports.outlook(context, new Set(waiting.map(({ name }) => name))),
    };
  }

  #aliases({ id, serviceFile }: WorkloadContext): Record<string, string> {
    return aliasUrls(id, serviceFile, this.#settings.environmentsUrl);
  }
}

function namesOf(objects: readonly { metadata: { name: string } }[]): Set<string> {
  return new Set(objects.map(({ metadata }) => metadata.name));
}

/** Returns whether the Job belongs to a service; Jobs of builds are managed elsewhere. */
function isServiceJob({ metadata }: Job): boolean {
  return metadata.labels?.[LABELS.service] !== undefined;
}

/** Returns the Services of an environment: those of its services, and the one that leads visitors to the API. */
function addressesOf(context: WorkloadContext): KubernetesService[] {
  const gate = gateService(context);
  const own = context.serviceFile.services.flatMap((service) => kubernetesServices(context, service));
  return gate ? [...own, gate] : own;
}
