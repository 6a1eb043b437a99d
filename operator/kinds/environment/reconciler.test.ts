import { describe, expect, test } from '@jest/globals';
import { Masks } from '../../../build-logs/masks.ts';
import type { LogLine } from '../../../build-logs/writer.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { requestAnnotation } from '../../../crds/requests.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { Repository } from '../../../crds/repository.ts';
import { sampleActivation } from '../../../crds/testing/activation.ts';
import type { BuiltImages } from '../../images/build/image-builder.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import type { ImageLookup } from '../../images/registry/image-lookup.ts';
import { SERVICE_DEFAULTS } from '../../../service-file/schema.ts';
import { AwaitedImagesPhase } from './build/awaited-images-phase.ts';
import { BuildLog } from './build/build-log.ts';
import { BuildPhase } from './build/build-phase.ts';
import { BuildRecorder } from './build/build-recorder.ts';
import { RolloutPhase } from './build/rollout-phase.ts';
import { Decisions } from './lifecycle/decisions.ts';
import { Sleeping } from './lifecycle/sleeping.ts';
import { sleepSettings } from './lifecycle/sleep-settings.ts';
import { KeepRunning } from './services/keep-running.ts';
import { Masking } from './status/masking.ts';
import { ApprovalPhase } from './revision/approval-phase.ts';
import type { PlanRequest } from './revision/plan-request.ts';
import { asNewest } from './revision/revision-planner.ts';
import { EnvironmentReconciler, type EnvironmentReconcilerOptions } from './reconciler.ts';
import { enteredNamespace } from './scope/contents.ts';
import type { EnvironmentScope } from './scope/scope.ts';
import { Services } from './services/services.ts';
import { SetUp } from './services/set-up.ts';
import { EnvironmentStatuses } from './status/statuses.ts';
import { noPublishing, noSeeding } from './testing/no-volume-copying.ts';
import { noWatch, noWakers as wakers } from './testing/no-wakers.ts';
import { retiredRevisions, type Revision } from './revision/revision.ts';
import type { Outlook } from '../../services/diagnosis/certain-failure.ts';
import type { ContainerOutput } from '../../services/diagnosis/last-output.ts';
import type { RolloutProgress } from '../../services/rollout/progress.ts';

const now = '2026-01-01T01:00:00.000Z';
const activation = sampleActivation();
const startedAt = '2026-01-01T00:00:10.000Z';
const good: BuildStatus = {
  number: 1,
  result: 'succeeded',
  commit: 'c1',
  revision: 'revision-of-c1',
  startedAt,
  images: [],
};
const running = { number: 2, result: 'running', commit: 'c2', revision: 'revision-of-c2', startedAt } as const;
const contents = {
  state: 'created',
  namespaceUID: 'ns',
  commit: 'c1',
  revision: 'revision-of-c1',
  activation,
} as const;

function environment(status: EnvironmentStatus, metadata: object = {}): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: {
      name: 'shop-main',
      namespace: 'group-acme',
      uid: 'u1',
      generation: 1,
      finalizers: ['coppice.dev/cleanup'],
      ...metadata,
    },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: structuredClone(status),
  };
}

interface World {
  /** Returns the revision of the ref's newest commit, or throws if it cannot be read. */
  plan: (request?: PlanRequest) => Promise<Revision>;
  build: () => Promise<BuiltImages | undefined>;
  rollOut: () => Promise<RolloutProgress>;
  /** Whether the namespace is gone as soon as it is deleted. */
  isGone: boolean;
  /** Whether the Repository trusts forks. */
  trustForks: boolean;
  trustedRevisions: string[];
  /** Whether commits of forks need an approval. */
  requiresApproval: boolean;
  /** The newest commit, as `git ls-remote` lists it. */
  head: string;
  /** Whether the Git host reports a pull request from a fork. */
  isFork: boolean;
  namespaceUid: string;
  scheduledRebuild: Repository['spec']['scheduledRebuild'];
  seeding: Partial<typeof noSeeding>;
  publishing: Partial<typeof noPublishing>;
  /** The Job of the running build, whose images exist. */
  job: { gracePeriodMs: number; isOver: boolean; hasLog: boolean };
  /** What is known of an image that CI builds. */
  lookup: ImageLookup;
  /** The image of the only service. */
  image: string;
  /** Why its namespace does not belong to a Group. */
  noGroup: Waiting;
  /** Why the Repository's configuration cannot be read. */
  configurationError: Error;
}

const revision = (commit: string, image?: string): Revision => ({
  id: `revision-of-${commit}`,
  commit,
  secrets: [],
  serviceFile: {
    services: image === undefined ? [] : [{ ...SERVICE_DEFAULTS, name: 'web', image }],
    publicRoutes: [],
    volumes: [],
    bundles: [],
  },
  images: [],
  warnings: [],
});
const up: RolloutProgress = {
  services: [{ name: 'web', ready: true }],
  aliases: {},
  done: true,
  waitingFor: [],
  failures: [],
  wakers: 'none',
};
const down: RolloutProgress = {
  services: [{ name: 'web', ready: false }],
  aliases: {},
  done: false,
  waitingFor: ['web: crash'],
  failures: [],
  wakers: 'none',
};

const outputOf = (service: string): ContainerOutput => ({
  source: `${service}-1`,
  lines: [{ service, stage: 'run', line: 'cannot start' }],
});

/** Returns a reconciler in a simulated world; `calls` lists its actions in order. */
function reconcilerIn(object: Environment, world: Partial<World> = {}) {
  const calls: string[] = [];
  /** The builds whose images are not looked for any longer. */
  const ended: string[] = [];
  /** The readiness in each write of the status. */
  const readiness: string[] = [];
  const reconciling: string[] = [];
  /**
   * Arguments of each call: whether the code is trusted, and whether it was rolled out; both decide the pull
   * credentials.
   */
  const ensured: [boolean, boolean][] = [];
  const does =
    <T>(name: string, result: T) =>
    () => {
      calls.push(name);
      return Promise.resolve(result);
    };
  const plan = world.plan ?? (() => Promise.resolve(revision('c2')));
  const builder = {
    build: async () => {
      calls.push('build');
      const built = world.build ? await world.build() : { images: [], sizeBytes: 0 };
      return built ? { built } : {};
    },
    gracePeriodMs: () => world.job?.gracePeriodMs ?? 0,
    hasPod: () => world.job !== undefined,
    isOver: () => world.job?.isOver ?? true,
    ended: () => undefined,
    cleanUp: does('cleanUp', undefined),
  };
  const session = {
    note: (key: string) => {
      if (key === 'unread') calls.push('log says what is missing');
      return Promise.resolve();
    },
    keep: (source: string, lines: readonly LogLine[]) => {
      calls.push(`output of ${source}: ${lines.map(({ line }) => line).join()}`);
      return Promise.resolve();
    },
    end: (result: string) => {
      calls.push(`log ends: ${result}`);
      return Promise.resolve();
    },
  };
  const configuration = {
    host: {
      access: { origin: 'http://git/x', credentials: undefined },
      pullRequest: () => Promise.resolve({ isFork: world.isFork, location: {} }),
    },
    confirmRepository: () => Promise.resolve(),
    variables: new Map(),
    serviceFile: { mode: 'repo' },
    trustForks: false,
    registrySecrets: [],
  };
  const configurations = {
    defaultTtlSeconds: () => 0,
    access: () => ({}),
    sleepSettings: () => ({}),
    registryAccess: () => ({ trustForks: world.trustForks ?? false, registrySecrets: [] }),
    forkApproval: () => ({ isRequired: world.requiresApproval ?? false, byComment: false }),
    canBeIncluded: () => false,
    scheduledRebuild: () => world.scheduledRebuild,
    read: () => (world.configurationError ? Promise.reject(world.configurationError) : Promise.resolve(configuration)),
  };
  const planner = {
    plan: async (request: PlanRequest) => {
      await request.locate();
      const planned = await plan(request);
      request.requireApproval(planned.commit);
      return planned;
    },
    newest: () =>
      asNewest(async () => {
        const { id, commit } = await plan();
        return { revisions: [id], commit };
      }),
    find: (_location: object, id: string | undefined) =>
      Promise.resolve(
        id === undefined
          ? undefined
          : {
              ...revision(id.replace('revision-of-', ''), world.image),
              ...(world.trustedRevisions && { trusted: world.trustedRevisions.includes(id) }),
            },
      ),
    bytesOf: (_location: object, ids: readonly string[]) => {
      calls.push(`bytesOf ${ids.join()}`);
      return Promise.resolve(ids.length * 1000);
    },
    retire: (_location: object, before: EnvironmentStatus, after: EnvironmentStatus) => {
      const { retired } = retiredRevisions(before, after);
      if (retired.length > 0) calls.push(`retire ${retired.join()}`);
      return Promise.resolve();
    },
  };
  const workloads = {
    setUp: does('setUp', { services: [], aliases: {} }),
    rollOut: () => {
      calls.push('rollOut');
      return world.rollOut ? world.rollOut() : Promise.resolve(up);
    },
    stop: does('stop', { services: [], aliases: {}, running: [] }),
    front: () => ({ hosts: {}, backends: {} }),
    prune: does('prune', undefined),
  };
  const writer = {
    write: (written: Environment, status: EnvironmentStatus) => {
      calls.push(`status: ${status.state ?? ''}`);
      readiness.push(condition({ ...written, status }, 'Ready'));
      reconciling.push(condition({ ...written, status }, 'Reconciling'));
      written.status = structuredClone(status);
      object.status = structuredClone(status);
      return Promise.resolve();
    },
  };
  const masking = new Masking(planner, new Masks());
  const services = new Services({
    ...{ workloads, masking, wakers, visitsOf: () => undefined },
    registry: { address: 'registry', layout: 'nested' },
  });
  const statuses = new EnvironmentStatuses(writer as never);
  const logs = { open: () => session, has: () => world.job?.hasLog ?? true, close: () => undefined };
  const common = { imageBuilder: builder, log: new BuildLog(logs as never) };
  const waits = {
    look: ({ image }: { image: string }) => {
      calls.push(`look for ${image}`);
      return world.lookup;
    },
    end: (id: string) => void ended.push(id),
  };
  const pullAuths = () => Promise.resolve(new Map());
  const awaited = new AwaitedImagesPhase({ waits, log: common.log, pullAuths, imageDeadlineSeconds: 600 });
  const recorder = new BuildRecorder({ ...common, waits, masking });
  const rollout = new RolloutPhase({
    ...{ ...common, recorder, services, rolloutDeadlineSeconds: 45 },
    lastOutput: { of: (_namespace, names) => Promise.resolve(names.map(outputOf)) },
  });
  const builds = new BuildPhase({ ...common, planner, recorder, awaited, rollout });
  const seeding = { ...noSeeding, ...world.seeding };
  const publishing = { ...noPublishing, ...world.publishing };
  const environments = { get: () => object, byIndex: () => [object] };
  const contents = {
    adopt: () => ({}),
    record: () => Promise.resolve(),
    ensure: (scope: EnvironmentScope) => {
      ensured.push([scope.isTrusted, calls.includes('rollOut')]);
      return Promise.resolve(enteredNamespace(scope.status, world.namespaceUid ?? 'ns'));
    },
    remove: does('remove', world.isGone ?? false),
    renewPullSecret: does('renewPullSecret', undefined),
  };
  const parts = {
    client: { patch: does('finalizer removed', { metadata: {} }) },
    environments,
    configurations,
    namespace: contents,
    environmentQuota: { take: () => undefined, free: () => undefined },
    groups: { problem: () => world.noGroup },
    environmentsUrl: new URL('http://env.localhost:8080'),
    planner,
    builds,
    recorder,
    approvals: new ApprovalPhase({
      source: {
        resolve: () => {
          calls.push('resolve');
          return Promise.resolve(world.head ?? 'c2');
        },
      },
      audit: ({ commit, by }) => calls.push(`approved ${commit} by ${by ?? 'nobody'}`),
    }),
    defaultAccess: 'public' as const,
    restrictAccess: { run: () => ({}) },
    setUp: new SetUp({ planner, seeding, services, masking, recorder }),
    keepRunning: new KeepRunning({ planner, publishing, services }),
    seeding,
    publishing,
    decisions: new Decisions({
      environments,
      configurations,
      removal: { removeObject: () => Promise.resolve(false) },
      reusables: { published: () => undefined },
    }),
    sleeping: new Sleeping({ ...noWatch, settingsOf: sleepSettings({ configurations, afterSeconds: 0 }), publishing }),
    wakers,
    statuses,
    now: () => new Date(now),
  };
  return {
    reconciler: new EnvironmentReconciler(parts as unknown as EnvironmentReconcilerOptions),
    calls,
    ended,
    ensured,
    readiness,
    reconciling,
  };
}

const rolledOutAt = (time: string) => ({ ...running, images: [], rolloutStartedAt: `2026-01-01T${time}.000Z` });

function condition(object: Environment, type: string) {
  const { status, reason } = object.status?.conditions?.find((one) => one.type === type) ?? {};
  return `${status ?? 'none'} ${reason ?? ''}`;
}

test('takes a new environment through every state', async () => {
  const object = environment({});
  const { reconciler, calls } = reconcilerIn(object);
  await reconciler.reconcile('key');
  const states = calls.filter((call) => call.startsWith('status: '));
  expect([...new Set(states)]).toEqual(['status: empty', 'status: created', 'status: building', 'status: built']);
  expect(condition(object, 'Ready')).toBe('True Built');
  expect(object.status?.deployed?.commit).toBe('c2');
});

test('changes nothing and does not access the Git host when a built environment is reconciled again', async () => {
  const object = environment({});
  await reconcilerIn(object).reconciler.reconcile('key');
  const before = structuredClone(object.status);
  await reconcilerIn(object, { plan: () => Promise.reject(new Error('asked')) }).reconciler.reconcile('key');
  expect(object.status).toEqual(before);
});

test.each<['sleep' | 'wake', boolean, string[]]>([
  ['sleep', false, ['stop']],
  ['sleep', true, ['stop']],
  ['wake', true, ['renewPullSecret', 'rollOut']],
  ['wake', false, ['rollOut']],
])('renews the pull Secret before services start: %s, asleep before: %p', async (request, asleep, expected) => {
  const object = environment({});
  await reconcilerIn(object).reconciler.reconcile('key');
  object.metadata.annotations = { [requestAnnotation(request)]: '2026-01-01T00:30:00Z/x' };
  object.status = { ...object.status, sleep: { asleep, reason: 'Requested', since: startedAt } };
  const { reconciler, calls } = reconcilerIn(object);
  await reconciler.reconcile('key');
  expect(calls.filter((call) => ['stop', 'renewPullSecret', 'rollOut'].includes(call))).toEqual(expected);
});

describe("a fork's commit that needs an approval", () => {
  const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
  const approve = (commit: string, who = 'ann@example.com') => ({
    annotations: { [requestAnnotation('approve')]: `2026-01-01T00:00:30Z/id/${commit}/${who}` },
  });
  const ofFork = (status: EnvironmentStatus, metadata: object = {}) => {
    const object = environment(status, metadata);
    object.spec.gitRef = { name: '7', type: 'pull request' };
    return object;
  };
  const needed = { requiresApproval: true, isFork: true, head: first, plan: () => Promise.resolve(revision(first)) };
  const pending = { ...activation, buildPending: true };
  const running = { ...contents, fromFork: true, commit: first, build: { ...good, commit: first }, deployed: good };
  const ofFirst = { approval: { commits: [{ commit: first, at: startedAt }] } };

  test('is neither read nor built, and takes no namespace and no slot', async () => {
    const object = ofFork({});
    const { reconciler, calls, ensured } = reconcilerIn(object, {
      ...needed,
      plan: () => Promise.reject(new Error('it is read')),
    });
    const { failure } = await reconciler.reconcile('key');
    expect(failure).toBeInstanceOf(Waiting);
    expect([calls.filter((call) => !call.startsWith('status')), ensured]).toEqual([['resolve'], []]);
    expect(object.status).toMatchObject({ state: 'empty', fromFork: true, approval: { waitingCommit: first } });
    expect([condition(object, 'Approved'), condition(object, 'Reconciling'), condition(object, 'Stalled')]).toEqual([
      ...['False WaitingForApproval', 'True WaitingForApproval', 'False WaitingForApproval'],
    ]);
  });

  test('keeps being reported while a request is handled', async () => {
    const object = ofFork({});
    await reconcilerIn(object, needed).reconciler.reconcile('key');
    object.metadata.annotations = { [requestAnnotation('build')]: '2026-01-01T00:30:00Z/x' };
    const { reconciler, reconciling } = reconcilerIn(object, needed);
    await reconciler.reconcile('key');
    expect(new Set(reconciling)).toEqual(new Set(['True WaitingForApproval']));
  });

  test('is built when it is approved, and who approved it is recorded', async () => {
    const object = ofFork({ fromFork: true, approval: { waitingCommit: first } }, approve(first));
    const { reconciler, calls } = reconcilerIn(object, needed);
    await reconciler.reconcile('key');
    expect(calls).toContain(`approved ${first} by ann@example.com`);
    expect(object.status).toMatchObject({
      ...{ state: 'built', deployed: { commit: first } },
      approval: { commits: [{ commit: first, by: 'ann@example.com', at: now }] },
    });
    expect(object.status?.approval).not.toHaveProperty('waitingCommit');
    expect(condition(object, 'Approved')).toBe('True Approved');
    // The same request is not handled again.
    const again = reconcilerIn(object, needed);
    await again.reconciler.reconcile('key');
    expect(again.calls.filter((call) => call.startsWith('approved'))).toEqual([]);
  });

  test('waits though another commit was approved, for example before a push', async () => {
    const object = ofFork({ fromFork: true }, approve(first));
    await reconcilerIn(object, { ...needed, head: second }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'empty', approval: { waitingCommit: second } });
    expect(condition(object, 'Approved')).toBe('False WaitingForApproval');
  });

  test('is not read when it is pushed after the check', async () => {
    const object = ofFork({ fromFork: true, ...ofFirst });
    const { reconciler, calls } = reconcilerIn(object, { ...needed, plan: () => Promise.resolve(revision(second)) });
    const { failure } = await reconciler.reconcile('key');
    expect(failure).toMatchObject({ reason: 'WaitingForApproval', afterMs: 1000 });
    expect(calls).not.toContain('setUp');
  });

  test('puts back a build that started before the push', async () => {
    const started = { number: 2, result: 'running', startedAt } as const;
    const object = ofFork({ ...running, ...ofFirst, build: started, activation });
    const world = { ...needed, plan: () => Promise.resolve(revision(second)) };
    await reconcilerIn(object, world).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ build: { result: 'superseded' }, activation: { buildPending: true } });
    await reconcilerIn(object, { ...world, head: second }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ build: { number: 2 }, approval: { waitingCommit: second } });
  });

  test('leaves what is deployed running and ready', async () => {
    const object = ofFork({ ...running, ...ofFirst, state: 'built', activation: pending });
    const { reconciler, calls } = reconcilerIn(object, { ...needed, head: second });
    const { failure } = await reconciler.reconcile('key');
    expect(failure).toBeUndefined();
    expect(calls).toContain('rollOut');
    expect(object.status).toMatchObject({ state: 'built', approval: { waitingCommit: second } });
    expect([condition(object, 'Ready'), condition(object, 'Approved')]).toEqual([
      ...['True Built', 'False WaitingForApproval'],
    ]);
  });

  test.each<[string, Partial<World>, EnvironmentStatus]>([
    ['of the repository itself', { ...needed, isFork: false }, {}],
    ['if none is required', { ...needed, requiresApproval: false }, {}],
    ['if none is required any longer', { ...needed, requiresApproval: false }, { approval: { waitingCommit: first } }],
  ])('%s is built at once', async (_what, world, status) => {
    const object = ofFork(status);
    await reconcilerIn(object, world).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'built', deployed: { commit: first } });
    expect([object.status?.approval, condition(object, 'Approved')]).toEqual([undefined, 'none ']);
  });

  test('is needed although forks are trusted', async () => {
    const object = ofFork({});
    await reconcilerIn(object, { ...needed, trustForks: true }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'empty', approval: { waitingCommit: first } });
  });

  test('is no longer waited for when the contents are deleted', async () => {
    const object = ofFork(
      { fromFork: true, activation: pending, approval: { waitingCommit: first } },
      { annotations: { [requestAnnotation('delete')]: '2026-01-01T00:30:00Z/x' } },
    );
    const { reconciler, calls } = reconcilerIn(object, { ...needed, isGone: true });
    await reconciler.reconcile('key');
    expect([object.status?.approval, condition(object, 'Approved')]).toEqual([undefined, 'none ']);
    expect(calls).not.toContain('resolve');
  });
});

test('keeps only the first plan of a new environment while its volumes are seeded', async () => {
  const firsts: unknown[] = [];
  const plan = (request?: PlanRequest) => {
    firsts.push(request?.isFirst);
    return Promise.resolve(revision('c2'));
  };
  const seeding = { advance: () => Promise.reject(new Waiting('Seeding', 'one of two', 1000)) };
  const object = environment({});
  for (const namespaceUid of ['ns', 'ns', 'ns', 'recreated']) {
    await reconcilerIn(object, { plan, seeding, namespaceUid }).reconciler.reconcile('key');
  }
  expect(firsts).toEqual([true, false, false, true]);
});

describe('the build of a pull request', () => {
  const ofPullRequest = (status: EnvironmentStatus) => {
    const object = environment(status);
    object.spec.gitRef = { name: '7', type: 'pull request' };
    return object;
  };
  const trustedBefore = {
    type: 'Trusted',
    status: 'True',
    reason: 'TrustForks',
    message: '',
    lastTransitionTime: startedAt,
  } as const;
  const deployed = { ...contents, commit: 'c2', revision: 'revision-of-c2', build: good, deployed: good } as const;

  test.each<[string, EnvironmentStatus, boolean, string]>([
    ['of a fork', { fromFork: true }, false, 'False Fork'],
    ['of unknown origin', {}, false, 'False Unknown'],
    ['of a fork that is trusted', { fromFork: true }, true, 'True TrustForks'],
    ['of the repository itself', { fromFork: false }, false, 'True SameRepository'],
  ])('%s reports whether it is trusted', async (_what, status, trustForks, expected) => {
    const object = ofPullRequest(status);
    const world = { trustForks, ...(status.fromFork !== undefined && { isFork: status.fromFork }) };
    await reconcilerIn(object, world).reconciler.reconcile('key');
    expect(condition(object, 'Trusted')).toBe(expected);
  });

  test('is replaced by one without variables when trust is withdrawn during it', async () => {
    const object = ofPullRequest({ ...contents, fromFork: true, build: running });
    const world = { trustedRevisions: ['revision-of-c2'], plan: () => Promise.resolve(revision('c3')) };
    const { reconciler, calls } = reconcilerIn(object, world);
    await reconciler.reconcile('key');
    expect(calls).toContain('log ends: superseded');
    expect(object.status).toMatchObject({ build: { number: 3, result: 'succeeded', revision: 'revision-of-c3' } });
  });

  test('continues while trust does not change', async () => {
    const object = ofPullRequest({ ...contents, fromFork: true, build: running });
    const world = { trustForks: true, trustedRevisions: ['revision-of-c2'] };
    await reconcilerIn(object, world).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ build: { number: 2, result: 'succeeded', revision: 'revision-of-c2' } });
  });

  test('is replaced once when it runs with variables and is no longer trusted', async () => {
    const object = ofPullRequest({ ...deployed, fromFork: true });
    const world: Partial<World> = {
      trustedRevisions: ['revision-of-c1'],
      plan: () => Promise.resolve(revision('c3')),
      build: () => Promise.reject(new Stalled('BuildFailed', 'exit code 1')),
    };
    await reconcilerIn(object, world).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ build: { number: 2, result: 'failed', revision: 'revision-of-c3' } });
    const { reconciler, calls } = reconcilerIn(object, world);
    await reconciler.reconcile('key');
    expect(calls).not.toContain('build');
  });

  test('is replaced after trust ended, also if a build has failed since', async () => {
    const failed = { ...running, result: 'failed' } as const;
    const conditions = [trustedBefore];
    const object = ofPullRequest({ ...deployed, fromFork: true, build: failed, conditions });
    const world = { trustedRevisions: ['revision-of-c1'], plan: () => Promise.resolve(revision('c3')) };
    await reconcilerIn(object, world).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ build: { number: 3, result: 'succeeded', revision: 'revision-of-c3' } });
  });

  test('keeps running without variables until the next build after forks became trusted', async () => {
    const object = ofPullRequest({ ...deployed, fromFork: true });
    const { reconciler, calls } = reconcilerIn(object, { trustForks: true, trustedRevisions: [] });
    await reconciler.reconcile('key');
    expect(calls).not.toContain('build');
    expect(condition(object, 'Trusted')).toBe('True TrustForks');
  });

  test.each([
    [
      false,
      [
        [false, false],
        [true, false],
      ],
    ],
    [
      true,
      [
        [false, false],
        [false, false],
      ],
    ],
    [undefined, [[false, false]]],
  ] as const)('is isolated before it runs as its host reports it, from a fork: %p', async (isFork, expected) => {
    const object = ofPullRequest({});
    const { reconciler, ensured } = reconcilerIn(object, isFork === undefined ? {} : { isFork });
    await reconciler.reconcile('key');
    expect(ensured).toEqual(expected);
    expect(object.status?.state).toBe('built');
  });
});

test('records what the revisions store, and reads it again only when others are in use', async () => {
  const object = environment({ ...contents, build: good, deployed: good });
  const { reconciler, calls } = reconcilerIn(object, {});
  await reconciler.reconcile('key');
  expect(object.status?.storedBytes).toBe(1000);
  calls.length = 0;
  await reconciler.reconcile('key');
  expect(calls.filter((call) => call.startsWith('bytesOf'))).toEqual([]);
});

test('what new contents store is recorded with the first status, not with one of its own', async () => {
  const { reconciler, calls } = reconcilerIn(environment({}), {});
  await reconciler.reconcile('key');
  expect(calls[calls.indexOf('status: created') - 1]).toBe('bytesOf revision-of-c2');
});

describe('a build', () => {
  test('that fails leaves the deployed services running, and cleans up after writing the status', async () => {
    const object = environment({ ...contents, build: running, deployed: good });
    const { reconciler, calls } = reconcilerIn(object, {
      build: () => Promise.reject(new Stalled('BuildFailed', 'exit code 1')),
    });
    await reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'built', build: { result: 'failed' }, deployed: { number: 1 } });
    expect(condition(object, 'Stalled')).toBe('True BuildFailed');
    const ended = ['bytesOf revision-of-c1', 'status: built', 'cleanUp', 'retire revision-of-c2'];
    expect(calls.slice(-5)).toEqual(['prune', ...ended]);
  });

  test.each([
    [1, 'the only service is running'],
    [2, 'all 2 services are running'],
  ])('of %d services reports that they became ready', async (count, message) => {
    const object = environment({ ...contents, build: running });
    const services = Array.from({ length: count }, (_, index) => ({ name: `s${index}`, ready: true }));
    await reconcilerIn(object, { rollOut: () => Promise.resolve({ ...up, services }) }).reconciler.reconcile('key');
    expect(object.status?.build).toMatchObject({ result: 'succeeded', message });
  });

  describe('of an image that CI builds from the commit', () => {
    const image = 'ghcr.io/acme/app:c2';
    const lookedFor = (world: Partial<World>, build: Partial<BuildStatus> = {}) => {
      const startedAt = '2026-01-01T00:55:00.000Z';
      const object = environment({ ...contents, build: { ...running, startedAt, ...build } });
      return { object, ...reconcilerIn(object, { image, ...world }) };
    };

    test('waits for it, and reports until when', async () => {
      const { object, reconciler, calls } = lookedFor({ lookup: { absence: 'absent' } });
      const { requeueAfterMs, failure } = await reconciler.reconcile('key');
      const message = `waiting until 2026-01-01T01:05:00Z for the image ${image} of web (not in its registry yet)`;
      expect([requeueAfterMs, failure]).toMatchObject([undefined, { afterMs: 300_000 }]);
      expect(object.status?.build).toMatchObject({ result: 'running', images: [], message });
      expect(condition(object, 'Reconciling')).toBe('True WaitingForImages');
      expect(calls).not.toContain('rollOut');
      expect(calls.filter((call) => call === 'build')).toHaveLength(1);
    });

    test('rolls it out by digest when it appears', async () => {
      const { object, reconciler, calls, ended } = lookedFor(
        { lookup: { digest: 'sha256:1' } },
        { images: [], message: 'waiting' },
      );
      await reconciler.reconcile('key');
      expect(calls).not.toContain('build');
      expect(ended).toContain('u1/2');
      expect(object.status?.deployed).toMatchObject({
        images: [{ service: 'web', image: `${image}@sha256:1` }],
        message: 'the only service is running',
      });
    });

    test('does not wait for a registry that it must not connect to', async () => {
      const { object, reconciler } = lookedFor({ lookup: { absence: 'private' } });
      await reconciler.reconcile('key');
      expect(object.status?.deployed).toMatchObject({ images: [] });
    });

    test.each([
      ['is reported as before by a new operator', 'waiting until then', 'True WaitingForImages'],
      ['is not reported before the first response', undefined, 'True Building'],
    ])('%s', async (_what, message, reported) => {
      const { object, reconciler } = lookedFor({}, { images: [], message });
      await reconciler.reconcile('key');
      expect(condition(object, 'Reconciling')).toBe(reported);
      expect(object.status?.build?.message).toBe(message);
    });

    test('fails after the deadline, and says what to do', async () => {
      const { object, reconciler, ended } = lookedFor({ lookup: { absence: 'absent' } }, { startedAt });
      await reconciler.reconcile('key');
      expect(object.status?.build).toMatchObject({
        result: 'failed',
        message: `not available after 600 s: the image ${image} of web: its registry does not have it. Check that CI pushes it under this name, then request a build`,
      });
      expect(condition(object, 'Built')).toBe('False ImageMissing');
      expect(ended).toEqual(['u1/2']);
    });

    test('stops waiting for it when the ref has moved on', async () => {
      const pending = { ...activation, buildPending: true };
      const object = environment({ ...contents, activation: pending, build: { ...running, images: [] } });
      const plan = () => Promise.resolve(revision('c3'));
      const { reconciler, ended } = reconcilerIn(object, { image, plan, lookup: { absence: 'absent' } });
      await reconciler.reconcile('key');
      expect(ended).toContain('u1/2');
      expect(object.status?.build).toMatchObject({ number: 3 });
    });

    test('stops waiting for it when the contents are deleted', async () => {
      const off = { ...activation, active: false };
      const object = environment({ ...contents, activation: off, build: { ...running, images: [] } });
      const { reconciler, ended } = reconcilerIn(object, { image, lookup: { absence: 'absent' } });
      await reconciler.reconcile('key');
      expect(ended).toEqual(['u1/2']);
      expect(object.status?.build?.result).toBe('cancelled');
    });
  });

  describe('whose images exist while its Job is running', () => {
    const rolledOut = { ...running, images: [], rolloutStartedAt: '2026-01-01T00:59:50.000Z' };
    const atWork = { gracePeriodMs: 20_000, isOver: false, hasLog: true };
    const failed = { ...down, failures: ['job web: exit code 1'] };
    async function outcome(world: Partial<World>) {
      const object = environment({ ...contents, build: rolledOut });
      const result = await reconcilerIn(object, world).reconciler.reconcile('key');
      return [object.status?.build?.result, result.requeueAfterMs];
    }

    test.each<[string, Partial<World>]>([
      ['succeeds', {}],
      ['fails', { rollOut: () => Promise.resolve(failed) }],
    ])('%s when the Job has ended', async (verb, world) => {
      expect(await outcome({ ...world, job: atWork })).toEqual(['running', 20_000]);
      const result = verb === 'succeeds' ? 'succeeded' : 'failed';
      expect((await outcome({ ...world, job: { ...atWork, isOver: true } }))[0]).toBe(result);
      expect((await outcome({ ...world, job: { ...atWork, gracePeriodMs: 0 } }))[0]).toBe(result);
    });

    test.each([
      [
        'says that lines are missing',
        { ...atWork, gracePeriodMs: 0 },
        ['log says what is missing', 'log ends: succeeded'],
      ],
      ['is complete', { ...atWork, isOver: true }, ['log ends: succeeded']],
    ])('has a log that %s', async (_what, job, expected) => {
      const object = environment({ ...contents, build: rolledOut });
      const { reconciler, calls } = reconcilerIn(object, { job });
      await reconciler.reconcile('key');
      expect(calls.filter((call) => call.startsWith('log '))).toEqual(expected);
    });

    test('has a complete log without a Job, although a new operator cannot read the secrets', async () => {
      const object = environment({ ...contents, build: rolledOut });
      const configurationError = new Waiting('VariableMissing', 'no Secret', 2000);
      const { reconciler, calls } = reconcilerIn(object, { configurationError });
      await reconciler.reconcile('key');
      expect(calls.filter((call) => call.startsWith('log '))).toEqual(['log ends: succeeded']);
    });

    test.each([
      ['the secrets that its log must not show', new Waiting('VariableMissing', 'no Secret', 2000)],
      ['its Repository', new Stalled('RepositoryNotFound', 'there is none')],
    ])('waits until its deadline if a new operator cannot read %s', async (_what, configurationError) => {
      const job = { gracePeriodMs: 20_000, isOver: true, hasLog: false };
      expect(await outcome({ configurationError, job })).toEqual(['running', 20_000]);
      expect(await outcome({ configurationError, job: { ...job, gracePeriodMs: 0 } })).toEqual([
        'succeeded',
        undefined,
      ]);
      expect((await outcome({ configurationError, job: { ...job, hasLog: true } }))[0]).toBe('succeeded');
    });
  });

  test('fails with the failures of services that do not become ready in time', async () => {
    const rolledOut = { ...running, images: [], rolloutStartedAt: '2026-01-01T00:59:00.000Z' };
    const object = environment({ ...contents, build: rolledOut });
    await reconcilerIn(object, { rollOut: () => Promise.resolve(down) }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({
      state: 'created',
      build: { result: 'failed', message: 'not ready after 45 s: web: crash' },
    });
    expect(condition(object, 'Built')).toBe('False RolloutFailed');
  });

  test('keeps the output of services that did not become ready in its log', async () => {
    const object = environment({ ...contents, build: rolledOutAt('00:59:00') });
    const { reconciler, calls } = reconcilerIn(object, { rollOut: () => Promise.resolve(down) });
    await reconciler.reconcile('key');
    const reported = calls.filter((call) => call.startsWith('output') || call.startsWith('log ends'));
    expect(reported).toEqual(['output of web-1: cannot start', 'log ends: failed']);
  });

  test('hides that output while the secrets to mask are unknown', async () => {
    const object = environment({ ...contents, build: rolledOutAt('00:59:00') });
    const configurationError = new Waiting('VariableMissing', 'no Secret', 2000);
    const { reconciler, calls } = reconcilerIn(object, { rollOut: () => Promise.resolve(down), configurationError });
    await reconciler.reconcile('key');
    expect(object.status?.build?.result).toBe('failed');
    expect(calls.filter((call) => call.startsWith('output'))).toEqual([]);
  });

  test.each<[string, Outlook, string | number]>([
    ['nothing is certain', {}, 15_000],
    [
      'it is certain',
      { failsAt: new Date('2026-01-01T01:00:00Z') },
      'not ready after 30 s, and more time would not help: web: crash',
    ],
    ['it will be certain', { failsAt: new Date('2026-01-01T01:00:05Z') }, 5000],
    ['it will be certain after the deadline', { failsAt: new Date('2026-01-01T01:00:50Z') }, 15_000],
    ['its next try is before the deadline', { retriesAt: new Date('2026-01-01T01:00:14Z') }, 15_000],
    [
      'its next try is after the deadline',
      { retriesAt: new Date('2026-01-01T01:00:15Z') },
      'not ready after 30 s, and more time would not help: web: crash',
    ],
  ])('ends as soon as nothing can change: %s', async (_, outlook, expected) => {
    const object = environment({ ...contents, build: rolledOutAt('00:59:30') });
    const rollOut = () => Promise.resolve({ ...down, outlook });
    const { requeueAfterMs } = await reconcilerIn(object, { rollOut }).reconciler.reconcile('key');
    expect(object.status?.build?.result === 'failed' ? object.status.build.message : requeueAfterMs).toBe(expected);
  });

  test('waits for services that can still become ready, until a reported time', async () => {
    const rolledOut = { ...running, images: [], rolloutStartedAt: '2026-01-01T00:59:30.000Z' };
    const object = environment({ ...contents, build: rolledOut });
    const result = await reconcilerIn(object, { rollOut: () => Promise.resolve(down) }).reconciler.reconcile('key');
    expect(result).toEqual({ requeueAfterMs: 15_000 });
    expect(object.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'until 2026-01-01T01:00:15Z',
    );
  });

  test.each([
    ['is at work still', '2026-01-01T01:20:00Z', { requeueAfterMs: 1_245_000 }],
    ['has ended a moment ago', '2026-01-01T00:59:50Z', { requeueAfterMs: 35_000 }],
  ])('counts the deadline from the end of a job that %s', async (_what, end, expected) => {
    const rolledOut = { ...running, images: [], rolloutStartedAt: '2026-01-01T00:50:00.000Z' };
    const object = environment({ ...contents, build: rolledOut });
    const rollOut = () => Promise.resolve({ ...down, jobsEndAt: new Date(end) });
    expect(await reconcilerIn(object, { rollOut }).reconciler.reconcile('key')).toEqual(expected);
    expect(object.status).toMatchObject({ build: { result: 'running' } });
  });

  test('fails instead of retrying when Kubernetes refuses it permanently', async () => {
    const object = environment({ ...contents, build: { ...running, images: [] } });
    const refused = new ApiError('PATCH /x', 422, 'Invalid', 'spec.x is not allowed');
    await reconcilerIn(object, { rollOut: () => Promise.reject(refused) }).reconciler.reconcile('key');
    expect(object.status?.build).toMatchObject({ result: 'failed', message: expect.stringContaining('not allowed') });
  });

  test.each([
    ['cannot be asked', () => Promise.reject(new SourceUnreachableError('away')), 2],
    ['has lost the ref', () => Promise.reject(new SourceRefusedError('RefNotFound', 'gone')), 2],
    ['still has its commit', () => Promise.resolve(revision('c2')), 2],
    ['has moved on', () => Promise.resolve(revision('c3')), 3],
  ])('that is requested while one runs and the Git host %s: build %#', async (_what, plan, number) => {
    const pending = { ...activation, buildPending: true };
    const object = environment({ ...contents, activation: pending, build: running });
    await reconcilerIn(object, { plan, build: () => Promise.resolve(undefined) }).reconciler.reconcile('key');
    expect(object.status?.build).toMatchObject({ number, result: 'running' });
    expect(object.status?.activation?.buildPending).toBe(false);
  });
});

test('is kept as requested while one runs and the Git host is busy, and the running one continues', async () => {
  const object = environment({ ...contents, activation: { ...activation, buildPending: true }, build: running });
  const busy = () => Promise.reject(new HostBusyError('come back later', 900_000));
  const { reconciler, calls } = reconcilerIn(object, { plan: busy, build: () => Promise.resolve(undefined) });
  expect(await reconciler.reconcile('key')).toEqual({ requeueAfterMs: 900_000 });
  expect(calls).toContain('build');
  expect(object.status).toMatchObject({ build: { number: 2, result: 'running' }, activation: { buildPending: true } });
});

test('removes contents in time although it waits for a busy host', async () => {
  const ttl = { seconds: 3660, since: '2026-01-01T00:00:00.000Z' };
  const object = environment({ state: 'created', namespaceUID: 'ns', activation, ttl });
  const waits = () => Promise.reject(new Waiting('HostBusy', 'come back later', 900_000));
  const { reconciler } = reconcilerIn(object, { plan: waits });
  expect(await reconciler.reconcile('key')).toMatchObject({ requeueAfterMs: 60_000, failure: { afterMs: 900_000 } });
  expect(condition(object, 'Reconciling')).toBe('True HostBusy');
});

test('leaves services of an unknown revision unchanged, and reports it', async () => {
  const unknown = { ...good, revision: undefined };
  const object = environment({ ...contents, revision: undefined, state: 'built', build: unknown, deployed: unknown });
  const { reconciler, calls } = reconcilerIn(object, {
    plan: () => Promise.reject(new SourceUnreachableError('away')),
  });
  await reconciler.reconcile('key').catch(() => undefined);
  expect(condition(object, 'Stalled')).toBe('True RevisionUnknown');
  for (const call of ['setUp', 'rollOut', 'prune']) expect(calls).not.toContain(call);
});

describe('contents', () => {
  test('are built again after somebody deleted their namespace', async () => {
    const object = environment({ ...contents, state: 'built', build: good, deployed: good });
    await reconcilerIn(object, { namespaceUid: 'another' }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'built', namespaceUID: 'another', build: { number: 2 } });
  });

  test('are shown until they are removed', async () => {
    const annotations = { [requestAnnotation('delete')]: 'now' };
    const object = environment({ ...contents, state: 'built', deployed: good }, { annotations });
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(object.status?.state).toBe('built');
    expect(condition(object, 'Reconciling')).toBe('True RemovingContents');
    await reconcilerIn(object, { isGone: true }).reconciler.reconcile('key');
    expect(object.status?.state).toBe('empty');
    expect(object.status?.deployed).toBeUndefined();
    expect(condition(object, 'Ready')).toBe('True Empty');
  });

  test('wait for the removal of former ones without polling', async () => {
    const annotations = {
      [requestAnnotation('delete')]: '2026-01-01T00:10:00Z',
      [requestAnnotation('create')]: '2026-01-01T00:20:00Z',
    };
    const object = environment({ ...contents, state: 'built', deployed: good }, { annotations });
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(await reconcilerIn(object).reconciler.reconcile('key')).toEqual({ requeueAfterMs: 10_000 });
    expect(await reconcilerIn(object, { isGone: true }).reconciler.reconcile('key')).toEqual({ requeueAfterMs: 1 });
    expect(object.status?.state).toBe('empty');
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'created', activation: { active: true, reason: 'CreateRequest' } });
  });

  test('are requeued for their schedule, and rebuilt then', async () => {
    const scheduledRebuild = { mode: 'notclones', hour: '00:20', timeZone: 'UTC' } as const;
    const object = environment({ ...contents, state: 'built', build: good, deployed: good });
    const { requeueAfterMs = 0 } = await reconcilerIn(object, { scheduledRebuild }).reconciler.reconcile('key');
    expect(requeueAfterMs).toBeGreaterThan(0);
    expect(requeueAfterMs).toBeLessThanOrEqual(24.5 * 3600_000);
    expect(object.status?.state).toBe('built');
    if (object.status?.schedule) object.status.schedule.since = '2025-01-01T00:00:00Z';
    if (object.status?.activation) object.status.activation.since = '2025-01-01T00:00:00Z';
    await reconcilerIn(object, { scheduledRebuild, isGone: true }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'empty', activation: { reason: 'Schedule', rebuild: true } });
  });

  test('that expire during a build cancel it with a reason', async () => {
    const object = environment(
      { ...contents, build: running, ttl: { seconds: 60, since: '2025-01-01T00:00:00Z' } },
      {},
    );
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(object.status).toMatchObject({
      activation: { active: false, reason: 'Expired' },
      build: { result: 'cancelled', message: 'the contents were deleted: their time to live is over' },
    });
  });

  test('that cannot be set up report it, release their copies, and still expire', async () => {
    const object = environment({}, {});
    object.spec = { ...object.spec, buildOnCreate: false, ttlSeconds: 60 };
    const plan = () => Promise.reject(new Stalled('ServiceFileInvalid', 'line 3'));
    const brokenOff: string[] = [];
    const breakOff = ({ key }: EnvironmentScope) => {
      brokenOff.push(key);
      return Promise.resolve({});
    };
    const result = await reconcilerIn(object, { plan, seeding: { breakOff } }).reconciler.reconcile('key');
    expect(brokenOff).toHaveLength(1);
    expect(condition(object, 'Stalled')).toBe('True ServiceFileInvalid');
    expect(result).toMatchObject({ requeueAfterMs: 60_000 });
  });
});

describe('an object that is deleted', () => {
  const deletionTimestamp = '2026-01-01T00:59:00Z';

  test('ends its build once, and is removed when its namespace is gone', async () => {
    const object = environment({ ...contents, build: running }, { deletionTimestamp });
    const { reconciler, calls } = reconcilerIn(object);
    await reconciler.reconcile('key');
    await reconciler.reconcile('key');
    expect(calls.filter((call) => call === 'log ends: cancelled')).toHaveLength(1);
    expect(condition(object, 'Ready')).toBe('False Terminating');
    expect(calls).not.toContain('finalizer removed');
    const last = reconcilerIn(object, { isGone: true });
    await last.reconciler.reconcile('key');
    expect(last.calls).toContain('finalizer removed');
  });

  test('is removed even if it does not match its schema', async () => {
    const object = environment({}, { deletionTimestamp });
    object.spec = { ...object.spec, gitRef: { name: 'a..b', type: 'branch' } };
    const { reconciler, calls } = reconcilerIn(object, { isGone: true });
    await reconciler.reconcile('key');
    expect(calls).toContain('finalizer removed');
  });
});

test('leaves a suspended environment unchanged, and still deletes it', async () => {
  const annotations = { [requestAnnotation('delete')]: 'now' };
  const object = environment({ ...contents, build: running }, { annotations });
  object.spec.suspend = true;
  const { reconciler, calls } = reconcilerIn(object);
  const result = await reconciler.reconcile('key');
  expect(result).toEqual({});
  expect(calls).toEqual(['status: building', 'cleanUp']);
  // kstatus does not treat it as Failed.
  expect(condition(object, 'Stalled')).toBe('False Suspended');
  expect(condition(object, 'Ready')).toBe('False Suspended');
  object.metadata.deletionTimestamp = '2026-01-01T00:59:00Z';
  const last = reconcilerIn(object, { isGone: true });
  await last.reconciler.reconcile('key');
  expect(last.calls).toContain('finalizer removed');
});

test('reports an object that does not match its schema', async () => {
  const object = environment({});
  object.spec = { ...object.spec, gitRef: { name: 'a..b', type: 'branch' } };
  const { failure, requeueAfterMs } = await reconcilerIn(object).reconciler.reconcile('key');
  expect([failure, requeueAfterMs]).toEqual([expect.any(Stalled), undefined]);
  expect(condition(object, 'Stalled')).toBe('True Invalid');
});

describe('readiness', () => {
  async function built(): Promise<Environment> {
    const object = environment({});
    await reconcilerIn(object).reconciler.reconcile('key');
    return object;
  }

  test.each([
    ['a TTL that is asked for', 'ttl', '2026-01-01T00:59:00Z/x/3600'],
    ['a request that nobody can handle', 'ttl', 'abc'],
  ])('does not change with %s', async (_what, name, value) => {
    const object = await built();
    object.metadata.annotations = { [requestAnnotation(name as 'ttl')]: value };
    const { reconciler, readiness } = reconcilerIn(object);
    await reconciler.reconcile('key');
    expect(readiness.length).toBeGreaterThan(0);
    expect(new Set(readiness)).toEqual(new Set(['True Built']));
  });

  test('does not change when a step fails', async () => {
    const object = await built();
    const rollOut = () => Promise.reject(new Error('the API server does not answer'));
    await reconcilerIn(object, { rollOut }).reconciler.reconcile('key');
    expect([condition(object, 'Ready'), condition(object, 'Reconciling')]).toEqual(['True Built', 'True Retrying']);
  });

  test('is kept while the environment is suspended, and updated afterwards', async () => {
    const object = await built();
    object.spec.suspend = true;
    await reconcilerIn(object).reconciler.reconcile('key');
    expect([condition(object, 'Ready'), condition(object, 'Stalled')]).toEqual(['True Suspended', 'False Suspended']);
    object.spec.suspend = false;
    await reconcilerIn(object).reconciler.reconcile('key');
    expect([condition(object, 'Ready'), condition(object, 'Stalled')]).toEqual(['True Built', 'False Built']);
  });
});

test('waits for a missing Repository, and builds what was requested once it exists', async () => {
  const object = environment({});
  const missing = new Waiting('RepositoryNotFound', 'there is no Repository acme.shop', 600_000);
  const { failure } = await reconcilerIn(object, { configurationError: missing }).reconciler.reconcile('key');
  expect(failure).toBe(missing);
  expect(condition(object, 'Reconciling')).toBe('True RepositoryNotFound');
  expect(condition(object, 'Stalled')).toBe('False RepositoryNotFound');
  await reconcilerIn(object).reconciler.reconcile('key');
  expect(condition(object, 'Ready')).toBe('True Built');
});

test('recovers from a refusal for a missing Repository of an older Coppice', async () => {
  const lastTransitionTime = now;
  const refused = { type: 'Created', status: 'False', reason: 'RepositoryNotFound', message: 'none' } as const;
  const object = environment({
    ...{ state: 'created', namespaceUID: 'ns', activation },
    conditions: [{ ...refused, lastTransitionTime }],
  });
  await reconcilerIn(object).reconciler.reconcile('key');
  expect(condition(object, 'Created')).toBe('True SetUp');
});

test('gives an object outside of groups no address, and continues when there is a Group', async () => {
  const object = environment({ webURL: 'http://shop-main--.env.localhost:8080/' });
  const noGroup = new Waiting('NoGroup', 'the namespace shop belongs to no Group', 600_000);
  const { reconciler, calls } = reconcilerIn(object, { noGroup });
  expect(await reconciler.reconcile('key')).toEqual({ failure: noGroup });
  expect(calls).toEqual(['status: empty']);
  expect(object.status?.webURL).toBeUndefined();
  expect(condition(object, 'Reconciling')).toBe('True NoGroup');
  await reconcilerIn(object).reconciler.reconcile('key');
  expect(condition(object, 'Ready')).toBe('True Built');
});

test('reports requests that it cannot handle until they are removed', async () => {
  const annotations = { 'coppice.dev/request-ttl': 'abc', 'coppice.dev/request-biuld': 'now' };
  const object = environment({}, { annotations });
  await reconcilerIn(object).reconciler.reconcile('key');
  const message = object.status?.conditions?.find(({ type }) => type === 'RequestsValid')?.message;
  expect(condition(object, 'RequestsValid')).toBe('False MalformedRequest');
  expect(message).toContain('coppice.dev/request-biuld is unknown: known are coppice.dev/request-create');
  expect(message).toContain('coppice.dev/request-ttl has the value abc, which does not end in /SECONDS');
  object.metadata.annotations = {};
  await reconcilerIn(object).reconciler.reconcile('key');
  expect(condition(object, 'RequestsValid')).toBe('none ');
});
