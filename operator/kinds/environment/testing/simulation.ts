import type { Environment, EnvironmentSpec } from '../../../../crds/environment.ts';
import { FINALIZER, LABELS, MANAGED_BY } from '../../../../crds/labels.ts';
import { nextRequestTime, requestAnnotation, requestValue, type RequestName } from '../../../../crds/requests.ts';
import type { Repository } from '../../../../crds/repository.ts';
import { Controller } from '../../../../kubernetes/controller.ts';
import { keyOf, objectKey, type KubernetesObject } from '../../../../kubernetes/resource-type.ts';
import { FakeClock } from '../../../../kubernetes/testing/fake-clock.ts';
import { silentLogger } from '../../../../kubernetes/testing/silent-logger.ts';
import { planSync } from '../../repository/sync-plan.ts';
import { carryOut } from '../../repository/sync-actions.ts';
import { isStatusOnly } from '../../../shared/watch-filters.ts';
import { FakeKind, fakeClient } from './fake-cluster.ts';
import { simulationReconciler, type SimulatedWorld } from './simulation-reconciler.ts';

const namespace = 'group-acme';
const repository = 'shop';
const start = Date.parse('2026-01-01T00:00:00Z');
export const MAIN = { name: 'main', type: 'branch' } as const;

/**
 * Simulates the lifecycle of environments: the operator's own reconciler, controller and queue over a simulated
 * cluster, with a clock that the test moves. Planning, calls to the API server and deletions take time, so that a
 * trigger can arrive at any step.
 */
export class Simulation implements SimulatedWorld {
  readonly clock = new FakeClock(start);
  readonly environments: FakeKind<Environment>;
  readonly namespaces: FakeKind<KubernetesObject>;
  /** While closed: images are missing, the Jobs that push them are running, and services do not become ready. */
  readonly gates = { images: true, jobs: true, rollout: true };
  /** The branch's newest commit; undefined if the branch is deleted. */
  head: string | undefined = 'c1';
  /** Whether the branch exists at the Git host. */
  hasRef = true;
  /** Limit of active environments of the only group. */
  maxActiveEnvironments = 100;
  settings: Pick<Repository['spec'], 'scheduledRebuild' | 'onRefGone' | 'autoBuild'> = {};
  readonly client: ReturnType<typeof fakeClient>;
  #controller: Controller | undefined;
  #requests = 0;

  constructor(lagMs = 3) {
    this.environments = new FakeKind(this.clock, { lagMs });
    this.namespaces = new FakeKind(this.clock, { lagMs, goesMs: 4000 });
    this.client = fakeClient(this.environments, this.namespaces, () => this.takes(1));
    this.environments.addHandler((object, old) => {
      if (!isStatusOnly(object, old)) this.#wake(object);
    });
    this.namespaces.addHandler(({ metadata: { labels } }) => {
      this.wake(objectKey(namespace, labels?.[LABELS.environment] ?? ''));
    });
  }

  /** Starts the operator. A running one is killed and loses everything in memory. */
  async operate(): Promise<void> {
    void this.#controller?.stop(0);
    const reconciler = simulationReconciler(this);
    const reconcile = (key: string) => reconciler.reconcile(key);
    const options = { name: 'environment', workers: 4, maxDelayMs: 60_000, logger: silentLogger, clock: this.clock };
    this.#controller = new Controller({ ...options, reconcile });
    await this.#controller.start();
    for (const object of this.environments.list()) this.#wake(object);
  }

  async stop(): Promise<void> {
    const stopped = this.#controller?.stop(0);
    await this.clock.advance(1000);
    await stopped;
  }

  read(name: string): Environment | undefined {
    return this.environments.read({ name, namespace });
  }

  spawn(name: string, spec: Partial<EnvironmentSpec> = {}, finalizers = [FINALIZER]): void {
    this.environments.create({
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Environment',
      metadata: { name, namespace, labels: { [LABELS.managedBy]: MANAGED_BY }, finalizers },
      spec: { repository, gitRef: MAIN, active: true, buildOnCreate: true, ...spec },
    });
  }

  request(name: string, ...what: RequestName[]): void {
    this.requestBy(0, name, ...what);
  }

  /** Requests as an API whose clock is ahead by this time. */
  requestBy(aheadMs: number, name: string, ...what: RequestName[]): void {
    const value = this.#nextValue(name, aheadMs);
    this.#annotate(name, Object.fromEntries(what.map((one) => [requestAnnotation(one), value])));
  }

  requestTtl(name: string, seconds: number): void {
    this.#annotate(name, { [requestAnnotation('ttl')]: `${this.#nextValue(name, 0)}/${seconds}` });
  }

  #nextValue(name: string, aheadMs: number): string {
    const now = new Date(this.clock.now() + aheadMs);
    const at = nextRequestTime(now, this.read(name)?.metadata.annotations);
    return requestValue(at, `${++this.#requests}`);
  }

  #annotate(name: string, annotations: Record<string, string>): void {
    this.#change(name, ({ metadata }) => (metadata.annotations = { ...metadata.annotations, ...annotations }));
  }

  changeSpec(name: string, change: Partial<EnvironmentSpec>): void {
    this.#change(name, (object) => (object.spec = { ...object.spec, ...change }));
  }

  /** Drops the status, as after a restore without it. */
  loseStatus(name: string): void {
    this.#change(name, (object) => delete object.status);
  }

  delete(name: string): void {
    if (this.read(name)) this.environments.delete({ name, namespace });
  }

  /** Synchronizes with the Git host. */
  async sync(): Promise<void> {
    const environments = this.environments.list();
    const branches = new Map([
      ['other', 'c0'],
      ...(this.head === undefined ? [] : ([[MAIN.name, this.head]] as const)),
    ]);
    const listing = { branches, tags: new Map(), openPullRequests: undefined, pullRequestCommits: new Map() };
    const isTaken = () => false;
    const input = {
      repository,
      spec: this.settings,
      listing,
      events: [],
      environments,
      isTaken,
      maxEnvironments: 100,
      maxForkEnvironments: 100,
    };
    const plan = { ...planSync(input), create: [] };
    const parts = {
      client: this.client,
      environments: this.environments.cache,
      now: () => new Date(this.clock.now()),
    };
    const done = carryOut(parts as never, { namespace, name: repository }, plan, {
      max: 100,
      signal: new AbortController().signal,
    });
    await this.clock.advance(50);
    await done;
  }

  /** Changes the Repository, which requeues all of its environments. */
  changeSettings(settings: Simulation['settings']): void {
    this.settings = { ...this.settings, ...settings };
    this.wakeAll();
  }

  openGates(gates: Partial<Simulation['gates']>): void {
    Object.assign(this.gates, gates);
    this.wakeAll();
  }

  wakeAll(): void {
    for (const object of this.environments.list()) this.#wake(object);
  }

  #change(name: string, change: (object: Environment) => void): void {
    if (this.read(name)) this.environments.change({ name, namespace }, change);
  }

  wake(key: string): void {
    this.#controller?.enqueue(key);
  }

  #wake(object: KubernetesObject): void {
    this.wake(keyOf(object));
  }

  /** Resolves after this simulated time. */
  takes(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimeout(resolve, ms));
  }
}
