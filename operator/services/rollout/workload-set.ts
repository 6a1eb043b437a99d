import { LABELS } from '../../../crds/labels.ts';
import { settled } from '../../shared/settled.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import {
  Deployment,
  Job,
  NetworkPolicy,
  objectKey,
  PersistentVolumeClaim,
  Service as KubernetesService,
  type Pod,
} from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { outlookOf, type Outlook } from '../diagnosis/certain-failure.ts';
import { CheckOutputs } from './check-outputs.ts';
import { deployment } from '../objects/deployment.ts';
import { gateService, type AccessContext } from '../objects/access.ts';
import { aliasUrls } from '../objects/ingress.ts';
import { imageOf, isJob, type WorkloadContext, type WorkloadInput, type WorkloadSettings } from '../objects/input.ts';
import { JobRuns, type JobOutcome } from './job-runs.ts';
import { jobName } from '../objects/job.ts';
import { namedVolumes } from '../objects/mounts.ts';
import type { RolloutProgress, ServiceProgress, SetUpServices, StoppingServices } from './progress.ts';
import { PublicHosts, type PublicHostCaches } from './public-hosts.ts';
import { isServicePolicy, networkPolicies } from '../objects/network-policies.ts';
import {
  hasLeavingPods,
  isRolledOut,
  isStarted,
  openDependencies,
  startableServices,
  stoppableServices,
  withDependenciesOfJobs,
  type Reached,
} from './rollout.ts';
import { serviceFacts } from './service-facts.ts';
import { kubernetesServices } from '../objects/service.ts';
import { byAge, lastTermination, restartsOf, serviceDiagnosis } from '../diagnosis/service-diagnosis.ts';
import { claim, claimName, volumesOf } from '../objects/volumes.ts';
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
  readonly #checkOutputs: CheckOutputs;

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
    this.#checkOutputs = new CheckOutputs(client);
  }

  /** Creates everything that the services need without running them. Throws Stalled when a quota is exceeded. */
  async setUp(input: WorkloadInput): Promise<SetUpServices> {
    const context = { ...input, settings: this.#settings };
    await this.#provide(context);
    const running = input.serviceFile.services.filter((service) => !isJob(service));
    await settled(running.map((service) => this.#deployments.apply(deployment(context, service, 0))));
    return {
      services: input.serviceFile.services.map((service) => ({
        name: service.name,
        image: imageOf(context, service),
        ready: false,
        ...serviceFacts(context, service),
      })),
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
    const reached = { launched, started, healthy, completed };
    const failures = new Map<string, string>();
    const diagnoses = new Map<string, string>();
    // A service that already runs as it should does not wait for its dependencies again.
    let next = services.filter((service) => this.#isStarted(context, service));
    const inOrder = withDependenciesOfJobs(services);
    while (next.length > 0 || (next = startableServices(inOrder, reached)).length > 0) {
      const outcomes = await settled(next.map((service) => this.#run(context, service)));
      for (const { service, isUp, isAlone, failure, diagnosis } of outcomes) {
        launched.add(service.name);
        if (isUp) up.add(service.name);
        if (isStarted(service, isUp && isAlone)) started.add(service.name);
        if (isUp && isAlone) healthy.add(service.name);
        if (isUp && isJob(service)) completed.add(service.name);
        if (failure !== undefined) failures.set(service.name, failure);
        if (diagnosis !== undefined) diagnoses.set(service.name, diagnosis);
      }
      next = [];
    }
    const progress = await this.#progress(context, up, reached, { failures, diagnoses });
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
      services: services.map((service) => ({
        name: service.name,
        image: imageOf(context, service),
        ready: isJob(service) && this.#runs.hasCompleted(context, service),
        ...serviceFacts(context, service),
      })),
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

  /** Runs a service. `isAlone`: no pod of an earlier version remains that dependents could connect to. */
  async #run(context: WorkloadContext, service: Service): Promise<JobOutcome & { service: Service; isAlone: boolean }> {
    if (isJob(service)) return { service, isAlone: true, ...(await this.#runs.run(context, service)) };
    const live = await this.#deployments.apply(deployment(context, service, service.replicas));
    const pods = this.#allPodsOf(context.namespace, service.name);
    return { service, isUp: isRolledOut(live), isAlone: !hasLeavingPods(live, pods) };
  }

  async #stop(context: WorkloadContext, service: Service): Promise<{ name: string; isStopped: boolean }> {
    const { name } = service;
    const live = await this.#deployments.apply(deployment(context, service, 0));
    // A Deployment that has just been changed, and had no pods before, starts none.
    const isStopped = (live.status?.replicas ?? 0) === 0 && this.#allPodsOf(context.namespace, name).length === 0;
    return { name, isStopped };
  }

  async #progress(
    context: WorkloadContext,
    up: ReadonlySet<string>,
    reached: Reached,
    { failures, diagnoses }: Record<'failures' | 'diagnoses', ReadonlyMap<string, string>>,
  ): Promise<Omit<RolloutProgress, 'wakers'>> {
    const describe = async (service: Service): Promise<string | undefined> =>
      failures.get(service.name) ?? diagnoses.get(service.name) ?? (await this.#describe(context, service, reached));
    const services = await Promise.all(
      context.serviceFile.services.map(async (service): Promise<ServiceProgress> => {
        const { name } = service;
        const ready = up.has(name);
        const pods = isJob(service) ? [] : this.#podsOf(context.namespace, name);
        const restarts = restartsOf(pods);
        const termination = lastTermination(pods);
        const message = ready ? undefined : await describe(service);
        return {
          name,
          image: imageOf(context, service),
          ready,
          ...(restarts > 0 && { restarts }),
          ...(termination && { lastTermination: termination }),
          ...(message !== undefined && { message }),
          ...serviceFacts(context, service),
        };
      }),
    );
    const waiting = services.filter(({ ready }) => !ready);
    const line = ({ name, message }: ServiceProgress) => (message === undefined ? name : `${name}: ${message}`);
    const waitingFor = [...waiting.map(line), ...this.#hosts.refusals(context)];
    return {
      services,
      aliases: this.#aliases(context),
      done: waitingFor.length === 0,
      waitingFor,
      failures: services.filter(({ name }) => failures.has(name)).map(line),
      jobsEndAt: this.#runs.lastEnd(context),
      outlook: this.#outlook(context, new Set(waiting.map(({ name }) => name))),
    };
  }

  /** Returns the earliest certain failure of the awaited services. */
  #outlook(context: WorkloadContext, waiting: ReadonlySet<string>): Outlook | undefined {
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

  #aliases({ id, serviceFile }: WorkloadContext): Record<string, string> {
    return aliasUrls(id, serviceFile, this.#settings.environmentsUrl);
  }

  async #describe(context: WorkloadContext, service: Service, reached: Reached): Promise<string | undefined> {
    const open = openDependencies(service, reached);
    if (open.length > 0) {
      return `waits for ${open.map(({ service: name, condition }) => `${name} (${condition})`).join(', ')}`;
    }
    const observed = this.#observed(context.namespace, service);
    // Only the output of the newest pod is read; its diagnosis comes first.
    const [newest] = byAge(observed.pods);
    const output = newest && (await this.#checkOutputs.of(newest, context.now));
    const checkOutputs = new Map(output === undefined ? [] : [[newest?.metadata.uid ?? '', output]]);
    return serviceDiagnosis({ isJob: isJob(service), ...observed, checkOutputs });
  }

  #observed(namespace: string, service: Service) {
    return {
      pods: this.#podsOf(namespace, service.name),
      deployment: this.#deployments.cache.get(objectKey(namespace, service.name)),
      claims: namedVolumes(service).flatMap((volume) => {
        const held = this.#claims.cache.get(objectKey(namespace, claimName(volume)));
        return held ? [held] : [];
      }),
    };
  }

  #podsOf(namespace: string, service: string): Pod[] {
    return this.#allPodsOf(namespace, service).filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  /** Returns the service's pods, including terminating ones. */
  #allPodsOf(namespace: string, service: string): Pod[] {
    return this.#pods
      .byIndex('namespace', namespace)
      .filter(({ metadata }) => metadata.labels?.[LABELS.service] === service);
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
