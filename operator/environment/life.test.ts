import { expect, test } from '@jest/globals';
import fc from '../../test/properties.ts';
import { pendingRequests, type RequestName } from '../../crds/requests.ts';
import { Life } from './testing/life.ts';

/** The one that is looked at, and a clone of it that may come. */
const name = 'shop-main';
const clone = 'shop-main-2';

/** What may happen at any moment, whatever step is under way. */
type Happening =
  | { what: 'request'; of: string; request: Exclude<RequestName, 'ttl'>; aheadMs: number }
  | { what: 'ttl'; seconds: number }
  | { what: 'active'; active: boolean }
  | { what: 'suspend'; suspend: boolean }
  | { what: 'gates'; images: boolean; jobs: boolean; rollout: boolean }
  | { what: 'spawn' | 'delete' | 'commit' | 'operator killed' };

const request = fc.record({
  what: fc.constant('request' as const),
  of: fc.constantFrom(name, name, clone),
  request: fc.constantFrom('create' as const, 'delete' as const, 'build' as const, 'rebuild' as const),
  // Two replicas of the API, one of whose clocks is wrong.
  aheadMs: fc.constantFrom(0, 0, -3_600_000, 3_600_000),
});
const disturbance = fc.oneof(
  fc.record({ what: fc.constantFrom('spawn' as const, 'commit' as const, 'operator killed' as const) }),
  fc.record({
    what: fc.constant('gates' as const),
    images: fc.boolean(),
    jobs: fc.boolean(),
    rollout: fc.boolean(),
  }),
);
const anything: fc.Arbitrary<Happening> = fc.oneof(
  { arbitrary: request, weight: 4 },
  disturbance,
  fc.record({ what: fc.constant('ttl' as const), seconds: fc.constantFrom(0, 1, 3, 3600) }),
  fc.record({ what: fc.constant('active' as const), active: fc.boolean() }),
  fc.record({ what: fc.constant('suspend' as const), suspend: fc.boolean() }),
  fc.record({ what: fc.constant('delete' as const) }),
);
/** Long enough for any of the steps, or in the middle of one. */
const pause = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(500, 3999, 4001, 9000));
const lag = fc.constantFrom(0, 3, 40);

async function happen(life: Life, happening: Happening): Promise<void> {
  const { what } = happening;
  if (what === 'request') life.requestBy(happening.aheadMs, happening.of, happening.request);
  if (what === 'ttl') life.requestTtl(name, happening.seconds);
  if (what === 'active') life.changeSpec(name, { active: happening.active });
  if (what === 'suspend') life.changeSpec(name, { suspend: happening.suspend });
  if (what === 'gates') life.openGates(happening);
  if (what === 'spawn' && !life.read(clone)) life.spawn(clone);
  if (what === 'delete') life.delete(name);
  if (what === 'operator killed') await life.operate();
  if (what === 'commit') {
    life.head = `c${Math.round(life.clock.now() / 1000)}`;
    await life.sync();
  }
}

/** Lives through it, and on until nothing is left to do. */
async function live(lagMs: number, happenings: readonly (readonly [Happening, number])[]): Promise<Life> {
  const life = new Life(lagMs);
  await life.operate();
  life.spawn(name);
  for (const [happening, ms] of happenings) {
    await life.clock.advance(ms);
    await happen(life, happening);
  }
  life.changeSpec(name, { suspend: false });
  life.openGates({ images: true, jobs: true, rollout: true });
  await life.clock.advance(60_000);
  return life;
}

/** Nothing waits, is half done, or is left behind. */
function expectSettled(life: Life): void {
  const namespaces = new Map(life.namespaces.list().map(({ metadata }) => [metadata.name, metadata]));
  for (const { metadata, spec, status } of life.environments.list()) {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const active = status?.activation?.active ?? false;
    const space = namespaces.get(`env-${metadata.name}--acme`);
    expect({ name: metadata.name, ready: ready?.status, reason: ready?.reason }).toMatchObject({ ready: 'True' });
    expect(pendingRequests(metadata.annotations, status?.handledRequests)).toEqual([]);
    expect(status?.activation).toMatchObject({ specActive: spec.active, buildPending: false });
    expect(metadata.deletionTimestamp ?? space?.deletionTimestamp).toBeUndefined();
    expect({ active, there: space !== undefined, empty: status?.state === 'empty' }).toEqual({
      ...{ active, there: active, empty: !active },
    });
    expect(status?.build?.result).not.toBe('running');
    namespaces.delete(`env-${metadata.name}--acme`);
  }
  expect([...namespaces.keys()]).toEqual([]);
}

test('whatever happens, in whatever order and at whichever step, ends settled, with nothing left behind', async () => {
  await fc.assert(
    fc.asyncProperty(lag, fc.array(fc.tuple(anything, pause), { maxLength: 9 }), async (lagMs, happenings) => {
      const life = await live(lagMs, happenings);
      try {
        expectSettled(life);
      } finally {
        await life.stop();
      }
    }),
    { numRuns: 100 },
  );
}, 120_000);

test('of requests the last word counts, however many there are and whenever they come', async () => {
  const some = fc.array(fc.tuple(fc.oneof({ arbitrary: request, weight: 3 }, disturbance), pause), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(lag, some, async (lagMs, happenings) => {
      const life = await live(lagMs, happenings);
      try {
        expectSettled(life);
        const asked = happenings.flatMap(([one]) => (one.what === 'request' && one.of === name ? [one.request] : []));
        const last = asked.findLast((one) => one !== 'build') ?? 'create';
        const environment = life.read(name);
        if (last === 'delete') {
          expect([undefined, 'empty']).toContain(environment?.status?.state);
          // It goes only when the clone stays.
          if (!environment) expect(life.read(clone)).toBeDefined();
        } else if (environment) expect(['created', 'built']).toContain(environment.status?.state);
        if (environment && asked.at(-1) === 'rebuild') expect(environment.status?.state).toBe('built');
      } finally {
        await life.stop();
      }
    }),
    { numRuns: 100 },
  );
}, 120_000);

/** Whether the build of a rebuild that was asked for has begun: the next one is another. */
function isRebuilt(life: Life): boolean {
  const { metadata, status } = life.read(name) ?? {};
  const isAsked = pendingRequests(metadata?.annotations, status?.handledRequests).length > 0;
  return !isAsked && status?.activation?.rebuild !== true;
}

test.each<[RequestName, string | undefined]>([
  ['create', 'built'],
  ['delete', 'empty'],
  ['build', 'built'],
  ['rebuild', 'built'],
])('%s twice, at any two moments of a life, is as once while the first is under way', async (what, expected) => {
  /** How many builds there were, and whether the first was done. @param later between the two; undefined: once alone. */
  const lived = async (first: number, later?: number) => {
    const life = new Life();
    await life.operate();
    life.spawn(name);
    await life.clock.advance(first);
    life.request(name, what);
    let isDone = false;
    if (later !== undefined) {
      await life.clock.advance(later);
      isDone = what === 'rebuild' && isRebuilt(life);
      life.request(name, what);
    }
    await life.clock.advance(30_000);
    expect([first, later, life.read(name)?.status?.state]).toEqual([first, later, expected]);
    expectSettled(life);
    await life.stop();
    return { builds: life.read(name)?.status?.build?.number ?? 0, isDone };
  };
  for (const first of [2, 10, 30, 60, 1000]) {
    const once = await lived(first);
    for (const later of [1, 7, 25, 400, 4001]) {
      const { builds, isDone } = await lived(first, later);
      // A build that is asked for is done at a moment that the status does not tell from outside: one more at most.
      const most = once.builds + (isDone || what === 'build' ? 1 : 0);
      const least = what === 'build' ? once.builds : most;
      expect([first, later, builds >= least && builds <= most ? 'as many' : builds]).toEqual([first, later, 'as many']);
    }
  }
});

test('what waits for former contents to go begins as soon as they are gone', async () => {
  const life = new Life();
  await life.operate();
  life.spawn(name);
  await life.clock.advance(1000);
  for (const what of ['rebuild', 'spec.active'] as const) {
    if (what === 'rebuild') life.request(name, 'rebuild');
    else {
      life.changeSpec(name, { active: false });
      await life.clock.advance(100);
      life.changeSpec(name, { active: true });
    }
    // A namespace takes 4 s to go here, setting up and building 100 ms.
    await life.clock.advance(4200);
    expect([what, life.read(name)?.status?.state]).toEqual([what, 'built']);
  }
  await life.stop();
});

test('services that run are no end of a build whose Job is at work yet', async () => {
  const life = new Life();
  life.gates.jobs = false;
  await life.operate();
  life.spawn(name);
  await life.clock.advance(1000);
  expect(life.read(name)?.status).toMatchObject({ state: 'building', build: { result: 'running', images: [] } });
  life.openGates({ jobs: true });
  await life.clock.advance(1000);
  expect(life.read(name)?.status).toMatchObject({ state: 'built', build: { result: 'succeeded' } });
  await life.stop();
});

test('while another build runs, when the last one finished is known', async () => {
  const life = new Life();
  await life.operate();
  life.spawn(name);
  await life.clock.advance(1000);
  const { startedAt, finishedAt } = life.read(name)?.status?.build ?? {};
  life.gates.images = false;
  life.request(name, 'rebuild');
  await life.clock.advance(10_000);
  expect(life.read(name)?.status?.build).toMatchObject({ result: 'running', previous: { startedAt, finishedAt } });
  await life.stop();
});
