import { describe, expect, test } from '@jest/globals';
import { ApiError } from './api-error.ts';
import { EventRecorder, type EventNote } from './event-recorder.ts';
import type { CoreEvent } from './resource-type.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { silentLogger } from './testing/silent-logger.ts';

const minute = 60_000;
const environment = (name: string, namespace = 'group-acme') => ({
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { namespace, name, uid: `uid-of-${name}` },
});
const noteOf = (note: string): EventNote => ({ type: 'Normal', reason: 'BuildStarted', note });

/** The Events of an API server, by name. */
class Events {
  readonly held = new Map<string, CoreEvent>();
  readonly outcomes: string[] = [];
  refusal: Error | undefined;
  readonly clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));

  recorder(instance = 'operator-1'): EventRecorder {
    return new EventRecorder({
      client: this.#client() as never,
      controller: 'coppice.dev/operator',
      instance,
      flowOf: ({ metadata: { namespace = '' } }) => ({ tenant: namespace, group: namespace, host: namespace }),
      logger: silentLogger,
      metrics: { recorded: (outcome) => void this.outcomes.push(outcome) },
      clock: this.clock,
    });
  }

  get list(): CoreEvent[] {
    return [...this.held.values()];
  }

  #client() {
    return {
      create: (_type: unknown, event: CoreEvent) => {
        if (this.refusal) return Promise.reject(this.refusal);
        const { name } = event.metadata;
        this.held.set(name, event);
        return Promise.resolve(event);
      },
      patch: (_type: unknown, { name }: { name: string }, patch: Partial<CoreEvent>) => {
        const found = this.held.get(name);
        if (!found) return Promise.reject(new ApiError('PATCH', 404, 'NotFound', 'it has expired'));
        const changed = { ...found, ...patch };
        this.held.set(name, changed);
        return Promise.resolve(changed);
      },
    };
  }
}

describe('an event recorder', () => {
  test('writes an Event with the fields that the API server requires', async () => {
    const events = new Events();
    const recorder = events.recorder();
    recorder.record(environment('shop'), noteOf('build 1'));
    await recorder.flush();
    expect(events.list).toEqual([
      expect.objectContaining({
        metadata: { namespace: 'group-acme', name: expect.stringMatching(/^shop\.[0-9a-f]{16}$/) },
        involvedObject: expect.objectContaining({ kind: 'Environment', name: 'shop', uid: 'uid-of-shop' }),
        type: 'Normal',
        reason: 'BuildStarted',
        message: 'build 1',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'coppice.dev/operator' },
        reportingInstance: 'operator-1',
      }),
    ]);
  });

  test('increases the count of a repeated Event', async () => {
    const events = new Events();
    const recorder = events.recorder();
    for (let time = 0; time < 3; time += 1) {
      recorder.record(environment('shop'), noteOf('build 1'));
      await recorder.flush();
      await events.clock.advance(minute);
    }
    expect(events.list).toEqual([
      expect.objectContaining({
        count: 3,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:02:00Z',
      }),
    ]);
  });

  test('writes a new Event when the former has expired', async () => {
    const events = new Events();
    const recorder = events.recorder();
    recorder.record(environment('shop'), noteOf('build 1'));
    await recorder.flush();
    events.held.clear();
    recorder.record(environment('shop'), noteOf('build 1'));
    await recorder.flush();
    expect(events.list.map(({ count }) => count)).toEqual([1]);
  });

  test('names Events of one moment in order', async () => {
    const events = new Events();
    const recorder = events.recorder();
    const notes = ['c', 'a', 'b'];
    for (const note of notes) recorder.record(environment('shop'), noteOf(note));
    await recorder.flush();
    const inOrder = [...events.held].sort(([one], [other]) => (one < other ? -1 : 1));
    expect(inOrder.map(([, { message }]) => message)).toEqual(notes);
  });

  test('writes separate Events for another object or another reason', async () => {
    const events = new Events();
    const recorder = events.recorder();
    recorder.record(environment('shop'), noteOf('build 1'));
    recorder.record(environment('shop'), noteOf('build 2'));
    recorder.record(environment('blog'), noteOf('build 1'));
    await recorder.flush();
    expect(events.held.size).toBe(3);
  });

  test('limits the Events of one object without affecting others', async () => {
    const events = new Events();
    const recorder = events.recorder();
    for (let number = 0; number < 100; number += 1) recorder.record(environment('shop'), noteOf(`build ${number}`));
    recorder.record(environment('blog'), noteOf('build 1'));
    await recorder.flush();
    expect(events.outcomes.filter((outcome) => outcome === 'dropped')).toHaveLength(75);
    expect(events.held.size).toBe(26);
    await events.clock.advance(5 * minute);
    recorder.record(environment('shop'), noteOf('later'));
    recorder.record(environment('shop'), noteOf('too much'));
    await recorder.flush();
    expect(events.held.size).toBe(27);
  });

  test("leaves room for others' Events, and does not write them after all of a tenant that has many", async () => {
    const events = new Events();
    const recorder = events.recorder();
    for (let number = 0; number < 300; number += 1) recorder.record(environment(`shop-${number}`), noteOf('failed'));
    recorder.record(environment('blog', 'group-other'), noteOf('built'));
    await recorder.flush();
    expect(events.outcomes.filter((outcome) => outcome === 'dropped')).toHaveLength(49);
    expect(events.list.findIndex(({ metadata }) => metadata.namespace === 'group-other')).toBeLessThan(3);
  });

  test('continues after an Event that could not be written, and accepts none once stopped', async () => {
    const events = new Events();
    const recorder = events.recorder();
    events.refusal = new ApiError('POST', 403, 'Forbidden', 'the namespace goes');
    recorder.record(environment('shop'), noteOf('lost'));
    await recorder.flush();
    events.refusal = undefined;
    recorder.record(environment('shop'), noteOf('written'));
    await recorder.stop();
    recorder.record(environment('shop'), noteOf('late'));
    await recorder.flush();
    expect(events.outcomes).toEqual(['failed', 'written', 'dropped']);
  });

  test.each([
    ['a'.repeat(1024), 'a'.repeat(1024)],
    ['a'.repeat(1025), `${'a'.repeat(1021)}…`],
    ['ä'.repeat(600), `${'ä'.repeat(510)}…`],
  ])('truncates a note at 1024 bytes (%#)', async (note, expected) => {
    const events = new Events();
    const recorder = events.recorder();
    recorder.record(environment('shop'), noteOf(note));
    await recorder.flush();
    expect(events.list[0]?.message).toBe(expected);
  });
});
