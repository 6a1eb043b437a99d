import type { KubernetesObject } from '../../../kubernetes/resource-type.ts';
import { PARTING_MS } from '../../builders/demand.ts';
import { Stalled } from '../../errors.ts';
import { StatusWriter } from '../../status-writer.ts';
import type { RolloutProgress } from '../../workloads/progress.ts';
import { BuildRun } from '../build-run.ts';
import { Building } from '../building.ts';
import { Contents } from '../contents.ts';
import { Decisions } from '../decisions.ts';
import { Masking } from '../masking.ts';
import { Places } from '../places.ts';
import type { PlanRequest } from '../planner.ts';
import { Planning } from '../planning.ts';
import { EnvironmentReconciler, type EnvironmentParts } from '../reconciler.ts';
import { Removal } from '../removal.ts';
import { Services } from '../services.ts';
import { ownPart } from '../status-parts.ts';
import { EnvironmentStatuses } from '../statuses.ts';
import type { Life } from './life.ts';
import { defaultEgress } from '../../testing/default-egress.ts';

/** The operator's own reconciler; what reaches beyond the API server is made up. */
export function lifeReconciler(life: Life): EnvironmentReconciler {
  const { clock, environments: kind } = life;
  const client = life.client as never;
  const environments = { ...kind.cache, byIndex: () => kind.cache.all() };
  const configurations = configurationsOf(life);
  const planning = new Planning(configurations as never, plannerOf(life) as never, versions as never);
  const masking = new Masking(planning);
  const services = new Services(workloadsOf(life) as never, { address: 'registry', layout: 'nested' }, masking);
  const statuses = new EnvironmentStatuses(
    new StatusWriter(client, { kind: 'Environment' } as never, kind.cache, ownPart),
  );
  const builds = new BuildRun(builderOf(life) as never, logs as never, masking);
  const applying = async (_type: object, object: KubernetesObject) => {
    await life.takes(1);
    return { object };
  };
  const contents = new Contents(client, { apply: applying } as never, life.namespaces.cache as never, isolation, {
    fence: {
      builderNamespace: 'b',
      buildkitdPort: 1,
      gitPorts: [],
      egress: defaultEgress,
      quota: {},
      defaultRequests: {},
      defaultLimits: {},
    },
    onRestored: () => undefined,
    pullSecret: () => Promise.resolve({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull' } }),
  });
  const removal = new Removal(client, environments);
  const environmentsUrl = new URL('http://env.localhost');
  const reusables = { published: () => undefined };
  const decided = { environments, configurations, contents, removal, reusables, statuses, environmentsUrl };
  const parts = {
    places: placesOf(life),
    groups: { problem: () => undefined },
    ...{ client, environments, configurations, contents, planning, services, masking, builds, statuses, reusing },
    building: new Building({
      ...{ planning, builds, services, statuses, rolloutDeadlineSeconds: 45 },
      lastOutput: { of: () => Promise.resolve([]) },
    }),
    decisions: new Decisions(decided),
    now: () => new Date(clock.now()),
  };
  return new EnvironmentReconciler(parts as unknown as EnvironmentParts);
}

function placesOf(life: Life): Places {
  return new Places({
    groups: { get: () => ({ spec: { mostEnvironments: life.mostEnvironments } }) as never },
    namespaces: { byIndex: () => life.namespaces.cache.all() },
    mostPerGroup: 0,
    enqueue: (key) => life.wake(key),
  });
}

function configurationsOf(life: Life) {
  const host = { access: { origin: 'http://git/x', credentials: undefined } };
  const configuration = { host, variables: new Map(), serviceFile: {}, trustForks: false, registrySecrets: [] };
  return {
    defaultTtlSeconds: () => 0,
    registryAccess: () => ({ trustForks: false, registrySecrets: [] }),
    scheduledRebuild: () => life.settings.scheduledRebuild,
    read: () => Promise.resolve(configuration),
  };
}

function plannerOf(life: Life) {
  const plan = async (request: PlanRequest) => {
    await request.locate();
    await life.takes(20);
    if (!life.hasRef) throw new Stalled('RefNotFound', 'the branch main is not in the repository');
    return version(life.head ?? 'c1');
  };
  return {
    plan,
    newest: async (request: PlanRequest) => {
      const { id, commit } = await plan(request);
      return { version: id, commit };
    },
  };
}

function builderOf(life: Life) {
  return {
    build: async () => {
      await life.takes(5);
      return life.gates.images ? { images: [], sizeBytes: 1 } : undefined;
    },
    partingMs: (_build: unknown, since: Date, now: Date) => Math.max(0, since.getTime() + PARTING_MS - now.getTime()),
    isOver: () => life.gates.jobs,
    ended: () => undefined,
    cleanUp: () => life.takes(1),
  };
}

function workloadsOf(life: Life) {
  const told = (ready: boolean): RolloutProgress => ({
    services: [{ name: 'web', ready }],
    aliases: {},
    done: ready,
    waitingFor: ready ? [] : ['web'],
    failures: [],
  });
  return {
    setUp: async () => {
      await life.takes(5);
      return { services: [{ name: 'web', ready: false }], aliases: {} };
    },
    rollOut: async () => {
      await life.takes(5);
      return told(life.gates.rollout);
    },
    prune: () => life.takes(1),
  };
}

function version(commit: string) {
  const serviceFile = { services: [], publicRoutes: [], volumes: [], bundles: [] };
  return { id: `v-${commit}`, commit, secrets: [], serviceFile, images: [], warnings: [] };
}

/** No environment here is made of another. */
const reusing = {
  holdsBuilds: () => false,
  giveUp: () => undefined,
  seed: () => Promise.resolve(),
  breakOffSeed: () => Promise.resolve(),
  end: () => Promise.resolve(),
  publish: () => Promise.resolve(new Set<string>()),
};

/** Nobody changes what isolates an environment here. */
const isolation = {
  find: (objects: readonly object[]) => objects.map(() => 'applied'),
  applied: () => 'applied',
};

const versions = {
  find: (_place: object, id: string) => Promise.resolve(version(id.slice(2))),
  retire: () => Promise.resolve(),
};

const logs = {
  open: () => ({ note: () => Promise.resolve(), end: () => Promise.resolve() }),
  has: () => true,
  close: () => undefined,
};
