import { expect, test } from '@jest/globals';
import fc from '../../../test/properties.ts';
import { pendingRequests, type RequestName } from '../../../crds/requests.ts';
import { Simulation } from './testing/simulation.ts';

/** The observed environment, and a clone of it that may be created. */
const name = 'shop-main';
const clone = 'shop-main-2';

/** Everything that can happen at any time, whatever step is in progress. */
type SimulatedEvent =
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
  // The clock of one of two replicas of the API is wrong.
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
const anything: fc.Arbitrary<SimulatedEvent> = fc.oneof(
  { arbitrary: request, weight: 4 },
  disturbance,
  fc.record({ what: fc.constant('ttl' as const), seconds: fc.constantFrom(0, 1, 3, 3600) }),
  fc.record({ what: fc.constant('active' as const), active: fc.boolean() }),
  fc.record({ what: fc.constant('suspend' as const), suspend: fc.boolean() }),
  fc.record({ what: fc.constant('delete' as const) }),
);
/** A pause that is long enough for any step, or ends in the middle of one. */
const pause = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(500, 3999, 4001, 9000));
const lag = fc.constantFrom(0, 3, 40);

async function inject(simulation: Simulation, event: SimulatedEvent): Promise<void> {
  const { what } = event;
  if (what === 'request') simulation.requestBy(event.aheadMs, event.of, event.request);
  if (what === 'ttl') simulation.requestTtl(name, event.seconds);
  if (what === 'active') simulation.changeSpec(name, { active: event.active });
  if (what === 'suspend') simulation.changeSpec(name, { suspend: event.suspend });
  if (what === 'gates') simulation.openGates(event);
  if (what === 'spawn' && !simulation.read(clone)) simulation.spawn(clone);
  if (what === 'delete') simulation.delete(name);
  if (what === 'operator killed') await simulation.operate();
  if (what === 'commit') {
    simulation.head = `c${Math.round(simulation.clock.now() / 1000)}`;
    await simulation.sync();
  }
}

/** Injects these events into a simulation, and runs it until nothing is left to do. */
async function live(lagMs: number, events: readonly (readonly [SimulatedEvent, number])[]): Promise<Simulation> {
  const simulation = new Simulation(lagMs);
  await simulation.operate();
  simulation.spawn(name);
  for (const [event, ms] of events) {
    await simulation.clock.advance(ms);
    await inject(simulation, event);
  }
  simulation.changeSpec(name, { suspend: false });
  simulation.openGates({ images: true, jobs: true, rollout: true });
  await simulation.clock.advance(60_000);
  return simulation;
}

/** Checks that nothing waits, is half done, or is left behind. */
function expectSettled(simulation: Simulation): void {
  const namespaces = new Map(simulation.namespaces.list().map(({ metadata }) => [metadata.name, metadata]));
  for (const { metadata, spec, status } of simulation.environments.list()) {
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

test('settles with nothing left behind, whatever happens in whatever order and at whichever step', async () => {
  await fc.assert(
    fc.asyncProperty(lag, fc.array(fc.tuple(anything, pause), { maxLength: 9 }), async (lagMs, events) => {
      const simulation = await live(lagMs, events);
      try {
        expectSettled(simulation);
      } finally {
        await simulation.stop();
      }
    }),
    { numRuns: 100 },
  );
}, 120_000);

test('follows the last request, however many there are and whenever they arrive', async () => {
  const some = fc.array(fc.tuple(fc.oneof({ arbitrary: request, weight: 3 }, disturbance), pause), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(lag, some, async (lagMs, events) => {
      const simulation = await live(lagMs, events);
      try {
        expectSettled(simulation);
        const asked = events.flatMap(([one]) => (one.what === 'request' && one.of === name ? [one.request] : []));
        const last = asked.findLast((one) => one !== 'build') ?? 'create';
        const environment = simulation.read(name);
        if (last === 'delete') {
          expect([undefined, 'empty']).toContain(environment?.status?.state);
          // The environment is removed only while the clone stays.
          if (!environment) expect(simulation.read(clone)).toBeDefined();
        } else if (environment) expect(['created', 'built']).toContain(environment.status?.state);
        if (environment && asked.at(-1) === 'rebuild') expect(environment.status?.state).toBe('built');
      } finally {
        await simulation.stop();
      }
    }),
    { numRuns: 100 },
  );
}, 120_000);

/** Returns whether the build of a requested rebuild has started, so that the next one is another. */
function isRebuilt(simulation: Simulation): boolean {
  const { metadata, status } = simulation.read(name) ?? {};
  const isAsked = pendingRequests(metadata?.annotations, status?.handledRequests).length > 0;
  return !isAsked && status?.activation?.rebuild !== true;
}

test.each<[RequestName, string | undefined]>([
  ['create', 'built'],
  ['delete', 'empty'],
  ['build', 'built'],
  ['rebuild', 'built'],
])('handles %s twice like once while the first is in progress, at any two moments', async (what, expected) => {
  /**
   * Sends the request once or twice. Returns the number of builds, and whether the first request was done when the
   * second one was sent. `later`: time of the second request; undefined for one request alone.
   */
  const simulated = async (first: number, later?: number) => {
    const simulation = new Simulation();
    await simulation.operate();
    simulation.spawn(name);
    await simulation.clock.advance(first);
    simulation.request(name, what);
    let isDone = false;
    if (later !== undefined) {
      await simulation.clock.advance(later);
      isDone = what === 'rebuild' && isRebuilt(simulation);
      simulation.request(name, what);
    }
    await simulation.clock.advance(30_000);
    expect([first, later, simulation.read(name)?.status?.state]).toEqual([first, later, expected]);
    expectSettled(simulation);
    await simulation.stop();
    return { builds: simulation.read(name)?.status?.build?.number ?? 0, isDone };
  };
  for (const first of [2, 10, 30, 60, 1000]) {
    const once = await simulated(first);
    for (const later of [1, 7, 25, 400, 4001]) {
      const { builds, isDone } = await simulated(first, later);
      // The status does not show exactly when a requested build is done, so there may be one more.
      const max = once.builds + (isDone || what === 'build' ? 1 : 0);
      const least = what === 'build' ? once.builds : max;
      expect([first, later, builds >= least && builds <= max ? 'as many' : builds]).toEqual([first, later, 'as many']);
    }
  }
});

test('starts as soon as former contents are removed', async () => {
  const simulation = new Simulation();
  await simulation.operate();
  simulation.spawn(name);
  await simulation.clock.advance(1000);
  for (const what of ['rebuild', 'spec.active'] as const) {
    if (what === 'rebuild') simulation.request(name, 'rebuild');
    else {
      simulation.changeSpec(name, { active: false });
      await simulation.clock.advance(100);
      simulation.changeSpec(name, { active: true });
    }
    // The removal of a namespace takes 4 s here, and a build 100 ms.
    await simulation.clock.advance(4200);
    expect([what, simulation.read(name)?.status?.state]).toEqual([what, 'built']);
  }
  await simulation.stop();
});

test('does not end a build while its Job is running, although the services are ready', async () => {
  const simulation = new Simulation();
  simulation.gates.jobs = false;
  await simulation.operate();
  simulation.spawn(name);
  await simulation.clock.advance(1000);
  expect(simulation.read(name)?.status).toMatchObject({ state: 'building', build: { result: 'running', images: [] } });
  simulation.openGates({ jobs: true });
  await simulation.clock.advance(1000);
  expect(simulation.read(name)?.status).toMatchObject({ state: 'built', build: { result: 'succeeded' } });
  await simulation.stop();
});

test('knows when the last build finished while another one runs', async () => {
  const simulation = new Simulation();
  await simulation.operate();
  simulation.spawn(name);
  await simulation.clock.advance(1000);
  const { startedAt, finishedAt } = simulation.read(name)?.status?.build ?? {};
  simulation.gates.images = false;
  simulation.request(name, 'rebuild');
  await simulation.clock.advance(10_000);
  expect(simulation.read(name)?.status?.build).toMatchObject({
    result: 'running',
    previous: { startedAt, finishedAt },
  });
  await simulation.stop();
});
