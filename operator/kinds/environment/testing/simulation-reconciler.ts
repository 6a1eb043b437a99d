import { Masks } from '../../../../build-logs/masks.ts';
import type { Environment } from '../../../../crds/environment.ts';
import type { Repository } from '../../../../crds/repository.ts';
import type { KubernetesObject } from '../../../../kubernetes/resource-type.ts';
import type { FakeClock } from '../../../../kubernetes/testing/fake-clock.ts';
import { GRACE_PERIOD_MS } from '../../../images/builders/demand.ts';
import { Stalled } from '../../../shared/errors.ts';
import { StatusWriter } from '../../../shared/status-writer.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';
import { AwaitedImagesPhase } from '../build/awaited-images-phase.ts';
import { BuildLog } from '../build/build-log.ts';
import { BuildPhase } from '../build/build-phase.ts';
import { BuildRecorder } from '../build/build-recorder.ts';
import { RolloutPhase } from '../build/rollout-phase.ts';
import { EnvironmentNamespace } from '../namespace/environment-namespace.ts';
import { Decisions } from '../lifecycle/decisions.ts';
import { Sleeping } from '../lifecycle/sleeping.ts';
import { sleepSettings } from '../lifecycle/sleep-settings.ts';
import { KeepRunning } from '../services/keep-running.ts';
import { Masking } from '../status/masking.ts';
import { EnvironmentQuota } from '../lifecycle/environment-quota.ts';
import type { PlanRequest } from '../revision/plan-request.ts';
import { EnvironmentReconciler, type EnvironmentReconcilerOptions } from '../reconciler.ts';
import { Removal } from '../lifecycle/removal.ts';
import { Services } from '../services/services.ts';
import { SetUp } from '../services/set-up.ts';
import { ownPart } from '../status/status-parts.ts';
import { EnvironmentStatuses } from '../status/statuses.ts';
import type { FakeKind, fakeClient } from './fake-cluster.ts';
import { noPublishing as publishing, noSeeding as seeding } from './no-volume-copying.ts';
import { noWatch, noWakers as wakers } from './no-wakers.ts';
import { DEFAULT_EGRESS } from '../../../shared/testing/default-egress.ts';

/** What a simulated reconciler acts on, and what it finds there. */
export interface SimulatedWorld {
  readonly clock: FakeClock;
  readonly client: ReturnType<typeof fakeClient>;
  readonly environments: FakeKind<Environment>;
  readonly namespaces: FakeKind<KubernetesObject>;
  readonly gates: { images: boolean; jobs: boolean; rollout: boolean };
  head: string | undefined;
  hasRef: boolean;
  maxActiveEnvironments: number;
  settings: Pick<Repository['spec'], 'scheduledRebuild' | 'sleep'>;
  /** Resolves after this much simulated time. */
  takes(ms: number): Promise<void>;
  wake(key: string): void;
}

/** The operator's own reconciler; everything beyond the API server is simulated. */
export function simulationReconciler(simulation: SimulatedWorld): EnvironmentReconciler {
  const { clock, environments: kind } = simulation;
  const client = simulation.client as never;
  const environments = { ...kind.cache, byIndex: () => kind.cache.all() };
  const configurations = configurationsOf(simulation);
  const planner = plannerOf(simulation);
  const masking = new Masking(planner, new Masks());
  const registry = { address: 'registry', layout: 'nested' } as const;
  const workloads = workloadsOf(simulation) as never;
  const services = new Services({ workloads, registry, masking, wakers, visitsOf: () => undefined });
  const statuses = new EnvironmentStatuses(
    new StatusWriter(client, { kind: 'Environment' } as never, kind.cache, ownPart),
  );
  const common = { imageBuilder: builderOf(simulation), log: new BuildLog(logs as never) };
  const waits = { look: () => undefined, end: () => undefined };
  const pullAuths = () => Promise.resolve(new Map());
  const awaited = new AwaitedImagesPhase({ waits, log: common.log, pullAuths, imageDeadlineSeconds: 60 });
  const recorder = new BuildRecorder({ ...common, waits, masking });
  const rollout = new RolloutPhase({
    ...{ ...common, recorder, services, rolloutDeadlineSeconds: 45 },
    lastOutput: { of: () => Promise.resolve([]) },
  });
  const builds = new BuildPhase({ ...common, planner, recorder, awaited, rollout });
  const applying = async (_type: object, object: KubernetesObject) => {
    await simulation.takes(1);
    return { object };
  };
  const contents = new EnvironmentNamespace(
    client,
    { replace: applying } as never,
    simulation.namespaces.cache as never,
    isolation,
    {
      isolation: {
        builderNamespace: 'b',
        buildkitdPort: 1,
        clonePorts: [],
        egress: DEFAULT_EGRESS,
        quota: {},
        defaultRequests: {},
        defaultLimits: {},
      },
      membersAccess: () => undefined,
      apiAccess: () => undefined,
      onRestored: () => undefined,
      pullSecret: () => Promise.resolve({ secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull' } } }),
      hashKey: () => Promise.resolve(Buffer.from('key')),
    },
  );
  const removal = new Removal(client, environments);
  const environmentsUrl = new URL('http://env.localhost');
  const reusables = { published: () => undefined };
  const decided = { environments, configurations, removal, reusables };
  const parts = {
    environmentQuota: quotaOf(simulation),
    groups: { problem: () => undefined },
    ...{
      client,
      environments,
      configurations,
      environmentsUrl,
      namespace: contents,
      planner,
      builds,
      recorder,
      statuses,
    },
    ...{ seeding, publishing },
    defaultAccess: 'public' as const,
    restrictAccess: { run: () => ({}) },
    setUp: new SetUp({ planner, seeding, services, masking, recorder }),
    keepRunning: new KeepRunning({ planner, publishing, services }),
    decisions: new Decisions(decided),
    approvals: { run: () => Promise.resolve({}) },
    sleeping: new Sleeping({ ...noWatch, settingsOf: sleepSettings({ configurations, afterSeconds: 0 }), publishing }),
    wakers,
    now: () => new Date(clock.now()),
  };
  return new EnvironmentReconciler(parts as unknown as EnvironmentReconcilerOptions);
}

function quotaOf(simulation: SimulatedWorld): EnvironmentQuota {
  return new EnvironmentQuota({
    groups: { get: () => ({ spec: { maxActiveEnvironments: simulation.maxActiveEnvironments } }) as never },
    namespaces: { byIndex: () => simulation.namespaces.cache.all(), get: simulation.namespaces.cache.get },
    maxPerGroup: 0,
    enqueue: (key) => simulation.wake(key),
  });
}

function configurationsOf(simulation: SimulatedWorld) {
  const host = { access: { origin: 'http://git/x', credentials: undefined } };
  const configuration = { host, variables: new Map(), serviceFile: {}, trustForks: false, registrySecrets: [] };
  return {
    defaultTtlSeconds: () => 0,
    access: () => ({}),
    registryAccess: () => ({ trustForks: false, registrySecrets: [] }),
    forkApproval: () => ({ isRequired: false, byComment: false }),
    canBeIncluded: () => false,
    scheduledRebuild: () => simulation.settings.scheduledRebuild,
    sleepSettings: () => simulation.settings.sleep ?? {},
    read: () => Promise.resolve(configuration),
  };
}

function plannerOf(simulation: SimulatedWorld) {
  const plan = async (request: PlanRequest) => {
    await request.locate();
    await simulation.takes(20);
    if (!simulation.hasRef) throw new Stalled('RefNotFound', 'the branch main is not in the repository');
    return revision(simulation.head ?? 'c1');
  };
  return {
    plan,
    newest: async (request: PlanRequest) => {
      const { id, commit } = await plan(request);
      return { planned: { revisions: [id], commit } };
    },
    find: (_location: object, id: string | undefined) =>
      Promise.resolve(id === undefined ? undefined : revision(id.slice(2))),
    bytesOf: (_location: object, ids: readonly string[]) => Promise.resolve(ids.length * 1000),
    retire: () => Promise.resolve(),
  };
}

function builderOf(simulation: SimulatedWorld) {
  return {
    build: async () => {
      await simulation.takes(5);
      return simulation.gates.images ? { built: { images: [], sizeBytes: 1 } } : {};
    },
    gracePeriodMs: (_build: unknown, since: Date, now: Date) =>
      Math.max(0, since.getTime() + GRACE_PERIOD_MS - now.getTime()),
    hasPod: () => true,
    isOver: () => simulation.gates.jobs,
    ended: () => undefined,
    cleanUp: () => simulation.takes(1),
  };
}

function workloadsOf(simulation: SimulatedWorld) {
  const reported = (ready: boolean): RolloutProgress => ({
    services: [{ name: 'web', ready }],
    aliases: {},
    done: ready,
    waitingFor: ready ? [] : ['web'],
    wakers: 'none',
    failures: [],
  });
  return {
    setUp: async () => {
      await simulation.takes(5);
      return { services: [{ name: 'web', ready: false }], aliases: {} };
    },
    rollOut: async () => {
      await simulation.takes(5);
      return reported(simulation.gates.rollout);
    },
    front: () => ({ hosts: {}, backends: {} }),
    stop: async () => {
      await simulation.takes(5);
      return { services: [{ name: 'web', ready: false }], aliases: {}, running: [] };
    },
    prune: () => simulation.takes(1),
  };
}

function revision(commit: string) {
  const serviceFile = { services: [], publicRoutes: [], volumes: [], bundles: [] };
  return { id: `v-${commit}`, commit, secrets: [], serviceFile, images: [], warnings: [] };
}

/** Nobody changes isolation policies here. */
const isolation = {
  find: (objects: readonly object[]) => objects.map(() => 'applied'),
  applied: () => 'applied',
};

const logs = {
  open: () => ({ note: () => Promise.resolve(), end: () => Promise.resolve() }),
  has: () => true,
  close: () => undefined,
};
