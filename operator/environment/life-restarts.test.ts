import { expect, test } from '@jest/globals';
import { Life } from './testing/life.ts';

const name = 'shop-main';

test.each([
  ['an hour ahead', 3600_000],
  ['an hour back', -3600_000],
])('a clock that is set %s ends contents to the minute of its own time', async (_how, setBy) => {
  const life = new Life();
  await life.operate();
  life.spawn(name, { ttlSeconds: 1800 });
  await life.clock.advance(60_000);
  const expiry = Date.parse(life.read(name)?.status?.expiresAt ?? '');
  life.clock.set(setBy);
  const waits = Math.max(0, expiry - life.clock.now());
  await life.clock.advance(Math.max(0, waits - 5000));
  expect(life.read(name)?.status?.state).toBe('built');
  await life.clock.advance(60_000);
  expect(life.read(name)?.status?.state).toBe('empty');
  await life.stop();
});

test('a TTL that passed while no operator ran ends contents at its first look', async () => {
  const life = new Life();
  await life.operate();
  life.spawn(name, { ttlSeconds: 600 });
  await life.clock.advance(5000);
  life.clock.set(7200_000);
  await life.operate();
  await life.clock.advance(10_000);
  expect(life.read(name)?.status?.state).toBe('empty');
  await life.stop();
});

test('what runs is adopted, not rebuilt, where the status was lost', async () => {
  const life = new Life();
  await life.operate();
  life.spawn(name);
  await life.clock.advance(1000);
  life.request(name, 'build');
  await life.clock.advance(5000);
  const before = life.read(name);
  expect(before?.status?.build?.number).toBe(2);
  life.loseStatus(name);
  await life.clock.advance(100);
  await life.operate();
  await life.clock.advance(10_000);
  const after = life.read(name);
  expect(after?.status).toMatchObject({ state: 'built', build: before?.status?.build, commit: before?.status?.commit });
  life.request(name, 'build');
  await life.clock.advance(5000);
  expect(life.read(name)?.status?.build?.number).toBe(3);
  await life.stop();
});
