import { expect, test } from '@jest/globals';
import { Simulation } from './testing/simulation.ts';

const name = 'shop-main';

test.each([
  ['an hour ahead', 3600_000],
  ['an hour back', -3600_000],
])("ends contents within a minute of the operator's clock when it is set %s", async (_how, setBy) => {
  const simulation = new Simulation();
  await simulation.operate();
  simulation.spawn(name, { ttlSeconds: 1800 });
  await simulation.clock.advance(60_000);
  const expiry = Date.parse(simulation.read(name)?.status?.expiresAt ?? '');
  simulation.clock.set(setBy);
  const waits = Math.max(0, expiry - simulation.clock.now());
  await simulation.clock.advance(Math.max(0, waits - 5000));
  expect(simulation.read(name)?.status?.state).toBe('built');
  await simulation.clock.advance(60_000);
  expect(simulation.read(name)?.status?.state).toBe('empty');
  await simulation.stop();
});

test('removes contents whose TTL ended while no operator ran at the first reconcile', async () => {
  const simulation = new Simulation();
  await simulation.operate();
  simulation.spawn(name, { ttlSeconds: 600 });
  await simulation.clock.advance(5000);
  simulation.clock.set(7200_000);
  await simulation.operate();
  await simulation.clock.advance(10_000);
  expect(simulation.read(name)?.status?.state).toBe('empty');
  await simulation.stop();
});

test('adopts running services without a rebuild after the status was lost', async () => {
  const simulation = new Simulation();
  await simulation.operate();
  simulation.spawn(name);
  await simulation.clock.advance(1000);
  simulation.request(name, 'build');
  await simulation.clock.advance(5000);
  const before = simulation.read(name);
  expect(before?.status?.build?.number).toBe(2);
  simulation.loseStatus(name);
  await simulation.clock.advance(100);
  await simulation.operate();
  await simulation.clock.advance(10_000);
  const after = simulation.read(name);
  expect(after?.status).toMatchObject({ state: 'built', build: before?.status?.build, commit: before?.status?.commit });
  simulation.request(name, 'build');
  await simulation.clock.advance(5000);
  expect(simulation.read(name)?.status?.build?.number).toBe(3);
  await simulation.stop();
});
