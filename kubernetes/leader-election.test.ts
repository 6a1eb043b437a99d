import { describe, expect, jest, test } from '@jest/globals';
import { apiErrorFrom } from './api-error.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import type { PatchOptions, RequestOptions } from './client-options.ts';
import { LeaderElector, type LeaderElectionOptions } from './leader-election.ts';
import type { KubernetesObject, Lease, ObjectName, ResourceType } from './resource-type.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { silentLogger } from './testing/silent-logger.ts';

/** Stores one Lease as the API server does. */
class FakeServer {
  readonly #clock: Clock;
  lease: Lease | undefined;
  away = false;
  /** How long each request takes. */
  slowMs = 0;
  writes = 0;
  reads = 0;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find<T extends KubernetesObject>(
    _type: ResourceType<T>,
    _at: ObjectName,
    options?: RequestOptions,
  ): Promise<T | undefined> {
    this.reads++;
    return this.#answer(() => this.lease as unknown as T | undefined, options);
  }

  create<T extends KubernetesObject>(_type: ResourceType<T>, object: T, options?: RequestOptions): Promise<T> {
    return this.#answer(() => {
      if (this.lease) throw apiErrorFrom('POST', 409, { reason: 'AlreadyExists' });
      return this.#write(object) as unknown as T;
    }, options);
  }

  patch<T extends KubernetesObject>(
    _type: ResourceType<T>,
    _at: ObjectName,
    patch: object,
    options?: PatchOptions,
  ): Promise<T> {
    return this.#answer(() => {
      if (!this.lease || options?.resourceVersion !== this.lease.metadata.resourceVersion) {
        throw apiErrorFrom('PATCH', 409, { reason: 'Conflict' });
      }
      return this.#write({ ...this.lease, ...patch }) as unknown as T;
    }, options);
  }

  /** Changes the Lease as a tool does that leaves its spec. */
  relabel(): void {
    if (this.lease) this.#write(this.lease);
  }

  #write(lease: Lease): Lease {
    this.writes++;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    return this.lease;
  }

  async #answer<T>(answer: () => T, { timeoutMs = Infinity }: RequestOptions = {}): Promise<T> {
    await Promise.resolve();
    if (this.slowMs > 0) await sleep(this.#clock, Math.min(this.slowMs, timeoutMs));
    if (this.away || this.slowMs > timeoutMs) throw apiErrorFrom('ANY', 503, {});
    return answer();
  }
}

function setUp() {
  const clock = new FakeClock(1_700_000_000_000);
  const server = new FakeServer(clock);
  const lost: string[] = [];
  const candidate = (identity: string, options: Partial<LeaderElectionOptions> = {}) =>
    new LeaderElector({
      client: server,
      namespace: 'system',
      name: 'operator',
      identity,
      logger: silentLogger,
      onLost: () => lost.push(identity),
      clock,
      wallClock: clock,
      random: () => 0,
      ...options,
    });
  return { clock, server, candidate, lost };
}

/** Returns whether the promise is resolved, without waiting for it. */
function watched(promise: Promise<boolean>) {
  const state: { is?: boolean } = {};
  void promise.then((value) => (state.is = value));
  return state;
}

describe('taking the Lease', () => {
  test('creates it if missing, in the form of client-go', async () => {
    const { clock, server, candidate, lost } = setUp();
    const one = candidate('one');
    expect(await one.acquire()).toBe(true);
    expect(one.isLeader()).toBe(true);
    expect(server.lease?.spec).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2023-11-14T22:13:20.000000Z',
      renewTime: '2023-11-14T22:13:20.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(20_000);
    expect(server.lease?.spec).toMatchObject({
      acquireTime: '2023-11-14T22:13:20.000000Z',
      renewTime: '2023-11-14T22:13:40.000000Z',
    });
    expect(lost).toEqual([]);
    await one.stop();
  });

  test('is renewed with one request, and read again after somebody else has changed it', async () => {
    const { clock, server, candidate, lost } = setUp();
    const one = candidate('one');
    await one.acquire();
    const { reads, writes } = server;
    await clock.advance(10_000);
    expect([server.reads - reads, server.writes - writes]).toEqual([0, 5]);

    server.relabel();
    await clock.advance(4000);
    expect(server.reads - reads).toBe(1);
    expect(one.isLeader()).toBe(true);
    expect(lost).toEqual([]);
    await one.stop();
  });

  test('waits while the first candidate renews it', async () => {
    const { clock, candidate } = setUp();
    const [one, two] = [candidate('one'), candidate('two')];
    await one.acquire();
    const acquired = watched(two.acquire());
    await clock.advance(120_000);
    expect(acquired.is).toBeUndefined();
    expect([one.isLeader(), two.isLeader()]).toEqual([true, false]);
    await Promise.all([one.stop(), two.stop()]);
  });

  test('takes it over when it has not changed for its duration, and not before', async () => {
    const { clock, server, candidate } = setUp();
    server.lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'operator', resourceVersion: '0' },
      // Long past by this candidate's clock, but the holder's clock may be wrong.
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 15,
        renewTime: '2001-01-01T00:00:00.000000Z',
        leaseTransitions: 4,
      },
    };
    const two = candidate('two');
    const acquired = watched(two.acquire());
    await clock.advance(14_999);
    expect(acquired.is).toBeUndefined();
    await clock.advance(2001);
    expect(acquired.is).toBe(true);
    expect(server.lease.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 5 });
    await two.stop();
  });

  test('succeeds for one of two candidates at once', async () => {
    const { clock, candidate } = setUp();
    const both = [candidate('one'), candidate('two')];
    const acquired = both.map((one) => watched(one.acquire()));
    await clock.advance(1);
    expect(acquired.filter(({ is }) => is)).toHaveLength(1);
    await Promise.all(both.map((one) => one.stop()));
  });

  test('continues while the API server is away', async () => {
    const { clock, server, candidate } = setUp();
    server.away = true;
    const one = candidate('one');
    const acquired = watched(one.acquire());
    await clock.advance(60_000);
    server.away = false;
    await clock.advance(2000);
    expect(acquired.is).toBe(true);
    await one.stop();
  });
});

describe('losing it', () => {
  test('stops leading after 10 s without a renewal, before another can lead', async () => {
    const { clock, server, candidate, lost } = setUp();
    const [one, two] = [candidate('one'), candidate('two')];
    await one.acquire();
    const acquired = watched(two.acquire());
    await clock.advance(4000);
    server.away = true;
    await clock.advance(9999);
    expect(lost).toEqual([]);
    await clock.advance(1);
    expect(lost).toEqual(['one']);
    expect(one.isLeader()).toBe(false);
    server.away = false;
    expect(acquired.is).toBeUndefined();
    await clock.advance(15_000);
    expect(acquired.is).toBe(true);
    await Promise.all([one.stop(), two.stop()]);
  });

  test('stops leading after 10 s although the requests of one renewal are answered later', async () => {
    const { clock, server, candidate, lost } = setUp();
    const one = candidate('one');
    await one.acquire();
    server.relabel();
    server.slowMs = 4500;
    await clock.advance(9900);
    expect(lost).toEqual([]);
    await clock.advance(200);
    expect(lost).toEqual(['one']);
    expect(one.isLeader()).toBe(false);
  });

  test('counts the 10 s from before the request that acquired it', async () => {
    const { clock, server, candidate, lost } = setUp();
    server.slowMs = 4500;
    const acquired = watched(candidate('one').acquire());
    await clock.advance(9000);
    expect(acquired.is).toBe(true);
    server.slowMs = 0;
    server.away = true;
    await clock.advance(5400);
    expect(lost).toEqual([]);
    await clock.advance(2200);
    expect(lost).toEqual(['one']);
  });

  test('keeps leading while each renewal takes almost half of the 10 s', async () => {
    const { clock, server, candidate, lost } = setUp();
    const one = candidate('one');
    server.slowMs = 4900;
    const acquired = watched(one.acquire());
    await clock.advance(120_000);
    expect([acquired.is, lost]).toEqual([true, []]);
    const stopped = one.stop();
    await clock.advance(10_000);
    await stopped;
  });

  test('stops leading at once when another holds it', async () => {
    const { clock, server, candidate, lost } = setUp();
    const one = candidate('one');
    await one.acquire();
    if (server.lease) server.lease = { ...server.lease, spec: { ...server.lease.spec, holderIdentity: 'thief' } };
    if (server.lease) server.lease.metadata = { ...server.lease.metadata, resourceVersion: '77' };
    await clock.advance(2000);
    expect(lost).toEqual(['one']);
    await one.stop();
    expect(server.lease?.spec?.holderIdentity).toBe('thief');
  });

  test('keeps leading through an outage shorter than the deadline', async () => {
    const { clock, server, candidate, lost } = setUp();
    const one = candidate('one');
    await one.acquire();
    await clock.advance(4000);
    server.away = true;
    await clock.advance(7000);
    server.away = false;
    await clock.advance(60_000);
    expect(lost).toEqual([]);
    await one.stop();
  });
});

describe('stop', () => {
  test('releases the Lease, so that the next leader need not wait', async () => {
    const { clock, server, candidate, lost } = setUp();
    const [one, two] = [candidate('one'), candidate('two')];
    await one.acquire();
    const acquired = watched(two.acquire());
    await clock.advance(1000);
    await one.stop();
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(2000);
    expect(acquired.is).toBe(true);
    expect(lost).toEqual([]);
    await two.stop();
    expect(clock.pending).toBe(0);
  });

  test('ends a waiting candidate: acquire() returns false, and the Lease is unchanged', async () => {
    const { clock, server, candidate } = setUp();
    const [one, two] = [candidate('one'), candidate('two')];
    await one.acquire();
    const acquire = two.acquire();
    await clock.advance(1000);
    await two.stop();
    expect(await acquire).toBe(false);
    expect(server.lease?.spec?.holderIdentity).toBe('one');
    await one.stop();
  });
});

test('sets the metric at both changes', async () => {
  const { candidate } = setUp();
  const changes: boolean[] = [];
  const one = candidate('one', { onChange: (leads) => changes.push(leads) });
  await one.acquire();
  await one.stop();
  expect(changes).toEqual([true, false]);
});

test.each([[{ leaseDurationMs: 10_000, renewDeadlineMs: 10_000 }], [{ renewDeadlineMs: 2400, retryPeriodMs: 2000 }]])(
  'refuses times that permit two leaders: %j',
  (times) => {
    expect(() => setUp().candidate('one', times)).toThrow(RangeError);
  },
);

describe("the machine's clock is set", () => {
  const hour = 3600_000;
  /** Creates candidates with the clocks of a process. */
  const candidates = () => {
    const server = new FakeServer(systemClock);
    const lost: string[] = [];
    const times = { leaseDurationMs: 20_000, renewDeadlineMs: 500, retryPeriodMs: 20, random: () => 0 };
    const common = { client: server, namespace: 'system', name: 'operator', logger: silentLogger, ...times };
    const candidate = (identity: string) =>
      new LeaderElector({ ...common, identity, onLost: () => lost.push(identity) });
    return { server, lost, one: candidate('one'), two: candidate('two') };
  };

  test('forward: the leader keeps its Lease, nobody takes it over, and it writes the new time', async () => {
    const { server, lost, one, two } = candidates();
    await one.acquire();
    const taken = two.acquire();
    const time = Date.now() + hour;
    const set = jest.spyOn(Date, 'now').mockReturnValue(time);
    try {
      const until = server.writes + 3;
      while (server.writes < until && lost.length === 0) await sleep(systemClock, 5);
      expect(lost).toEqual([]);
      expect([one.isLeader(), two.isLeader()]).toEqual([true, false]);
      expect(Date.parse(server.lease?.spec?.renewTime ?? '')).toBe(time);
    } finally {
      set.mockRestore();
      await Promise.all([two.stop(), taken]);
      await one.stop();
    }
  });

  test('back: a leader that cannot renew gives up after the same time', async () => {
    const { server, lost, one } = candidates();
    await one.acquire();
    const set = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - hour);
    server.away = true;
    try {
      const until = performance.now() + 4000;
      while (performance.now() < until && lost.length === 0) await sleep(systemClock, 5);
      expect(lost).toEqual(['one']);
    } finally {
      set.mockRestore();
      await one.stop();
    }
  });
});
