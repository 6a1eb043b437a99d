import { expect, test } from '@jest/globals';
import { FakeClock, settle } from '../../../kubernetes/testing/fake-clock.ts';
import type { ImageLookup } from '../registry/image-lookup.ts';
import { parseReference } from '../registry/reference.ts';
import { ASK_AGAIN_MS, ImageWaits } from './image-waits.ts';

const absent: ImageLookup = { absence: 'absent' };
const failing: ImageLookup = { absence: 'failing' };
const there: ImageLookup = { digest: 'sha256:1' };

/** A registry that responds after `takesMs` with `answer`. */
function world({ takesMs = 0 }: { takesMs?: number } = {}) {
  const clock = new FakeClock(1_000_000);
  const requests: { image: string; at: number }[] = [];
  const enqueued: string[] = [];
  const warnings: unknown[] = [];
  const state: { answer: ImageLookup; running: number; maxRunning: number; authsError?: Error | undefined } = {
    answer: absent,
    running: 0,
    maxRunning: 0,
  };
  const waits = new ImageWaits({
    registries: {
      find: async ({ registry, repository }) => {
        requests.push({ image: `${registry}/${repository}`, at: clock.now() - 1_000_000 });
        state.running += 1;
        state.maxRunning = Math.max(state.maxRunning, state.running);
        if (takesMs > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, takesMs));
        state.running -= 1;
        return state.answer;
      },
    },
    ownerOf: (group) => ({ tenant: `tenant of ${group}`, group }),
    enqueue: (key) => void enqueued.push(key),
    clock,
    logger: { warn: (...args: unknown[]) => void warnings.push(args) },
  });
  const auths = () => (state.authsError ? Promise.reject(state.authsError) : Promise.resolve(new Map()));
  const look = (image = 'ghcr.io/acme/app:1', buildId = 'uid/1', group = 'acme') => {
    const reference = parseReference(image);
    if (!reference) throw new Error(image);
    return waits.look({ buildId, environmentKey: `key of ${buildId}`, group, image, reference, auths });
  };
  return { waits, clock, requests, enqueued, warnings, state, look };
}

test('knows nothing at first, then what the registry says, and reports only news', async () => {
  const { clock, enqueued, state, look, requests } = world();
  expect(look()).toBeUndefined();
  await clock.advance(300);
  expect([look(), enqueued]).toEqual([absent, ['key of uid/1']]);
  await clock.advance(60_000);
  expect(enqueued).toHaveLength(1);
  state.answer = there;
  await clock.advance(21_000);
  expect([look(), enqueued.length]).toEqual([there, 2]);
  const count = requests.length;
  await clock.advance(3_600_000);
  expect([requests.length, clock.pending]).toEqual([count, 0]);
});

test('asks less and less often', async () => {
  const { clock, requests, look } = world();
  look();
  await clock.advance(120_000);
  const gaps = requests.slice(1).map(({ at }, index) => Math.round((at - (requests[index]?.at ?? 0)) / 1000));
  expect(gaps.slice(0, 7)).toEqual([4, 6, 8, 12, 16, 20, 20]);
});

test('asks a registry for images of one tenant at most once a second', async () => {
  const { clock, requests, look } = world();
  for (let index = 0; index < 50; index += 1) look(`ghcr.io/acme/app${index}:1`, `uid/${index}`);
  await clock.advance(30_000);
  expect(requests.length).toBeLessThanOrEqual(31);
  expect(new Set(requests.map(({ image }) => image)).size).toBeGreaterThan(25);
});

test('bounds the requests of a tenant that names very many registries, and serves another tenant meanwhile', async () => {
  const { clock, requests, state, look } = world({ takesMs: 5000 });
  for (let index = 0; index < 200; index += 1) look(`r${index}.evil.example/app:1`, `evil/${index}`, 'evil');
  await clock.advance(1000);
  look('ghcr.io/acme/app:1', 'uid/1', 'acme');
  await clock.advance(6000);
  expect(look('ghcr.io/acme/app:1', 'uid/1', 'acme')).toEqual(absent);
  expect(state.maxRunning).toBeLessThanOrEqual(4);
  expect(requests.length).toBeLessThan(12);
});

test('pauses a registry that does not respond, for one tenant only', async () => {
  const { clock, requests, state, look } = world();
  state.answer = failing;
  look('ghcr.io/acme/app:1', 'uid/1');
  look('ghcr.io/acme/other:1', 'uid/2');
  await clock.advance(600_000);
  // At 0, then after pauses of 10, 20, 40, 80, 160 and 300 s; two requests can be under way together.
  expect(requests.length).toBeLessThanOrEqual(14);
  state.answer = absent;
  look('ghcr.io/globex/app:1', 'uid/3', 'globex');
  await clock.advance(300);
  expect(look('ghcr.io/globex/app:1', 'uid/3', 'globex')).toEqual(absent);
});

test('stops when the build ends', async () => {
  const { waits, clock, requests, look } = world();
  look();
  await clock.advance(300);
  waits.end('uid/1');
  await clock.advance(600_000);
  expect([requests.length, clock.pending, waits.size]).toEqual([1, 0, 0]);
});

test('does not report what it hears after the build has ended', async () => {
  const { waits, clock, enqueued, look } = world({ takesMs: 1000 });
  look();
  await clock.advance(100);
  waits.end('uid/1');
  await clock.advance(10_000);
  expect([enqueued, clock.pending]).toEqual([[], 0]);
});

test('forgets a build that does not ask again, and keeps one that does', async () => {
  const { waits, clock, look } = world();
  look('a:1', 'uid/1');
  for (let times = 0; times < 4; times += 1) {
    look('b:1', 'uid/2');
    await clock.advance(ASK_AGAIN_MS);
  }
  expect(waits.size).toBe(1);
});

test('asks again after credentials could not be read', async () => {
  const { clock, state, warnings, look } = world();
  state.authsError = new Error('the API server is away');
  look();
  await clock.advance(300);
  await settle();
  expect([look(), warnings.length]).toEqual([undefined, 1]);
  state.authsError = undefined;
  await clock.advance(10_000);
  expect(look()).toEqual(absent);
});

test('does not ask again where it must not connect', async () => {
  const { clock, state, requests, look } = world();
  state.answer = { absence: 'private' };
  look();
  await clock.advance(600_000);
  expect([look(), requests.length]).toEqual([{ absence: 'private' }, 1]);
});
