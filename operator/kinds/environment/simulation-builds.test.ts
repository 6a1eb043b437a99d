import { afterEach, expect, test } from '@jest/globals';
import { requestAnnotation } from '../../../crds/requests.ts';
import { Simulation } from './testing/simulation.ts';

const name = 'shop-main';
let simulation: Simulation;

async function start(): Promise<void> {
  simulation = new Simulation();
  await simulation.operate();
}

afterEach(() => simulation.stop());

const requested = (what: 'build' | 'rebuild') => simulation.read(name)?.metadata.annotations?.[requestAnnotation(what)];
const statusOf = () => simulation.read(name)?.status;

test('records the commit, the trigger and the newest served request of each build', async () => {
  await start();
  simulation.spawn(name);
  await simulation.clock.advance(5000);
  simulation.request(name, 'build');
  const second = requested('build');
  await simulation.clock.advance(5000);
  simulation.head = 'c2';
  await simulation.sync();
  const third = requested('build');
  await simulation.clock.advance(5000);
  simulation.request(name, 'rebuild');
  const fourth = requested('rebuild');
  await simulation.clock.advance(20_000);
  const { build, builds } = statusOf() ?? {};
  expect(builds).toEqual([
    expect.objectContaining({ number: 4, result: 'succeeded', trigger: 'rebuild', request: fourth, commit: 'c2' }),
    expect.objectContaining({ number: 3, result: 'succeeded', trigger: 'commit', request: third, commit: 'c2' }),
    expect.objectContaining({ number: 2, result: 'succeeded', trigger: 'build', request: second, commit: 'c1' }),
    expect.objectContaining({ number: 1, result: 'succeeded', trigger: 'create', commit: 'c1' }),
  ]);
  expect(builds?.[3]).not.toHaveProperty('request');
  expect(build).toMatchObject({ number: 4, trigger: 'rebuild', request: fourth });
});

test('records a request in the running build that it joins', async () => {
  await start();
  simulation.gates.images = false;
  simulation.spawn(name);
  await simulation.clock.advance(1000);
  simulation.request(name, 'build');
  await simulation.clock.advance(1000);
  expect(statusOf()?.build).toMatchObject({
    number: 1,
    result: 'running',
    trigger: 'create',
    request: requested('build'),
  });
});

test('records a request that supersedes the running build only in the next one', async () => {
  await start();
  simulation.gates.images = false;
  simulation.spawn(name);
  await simulation.clock.advance(1000);
  simulation.head = 'c2';
  simulation.request(name, 'build');
  await simulation.clock.advance(1000);
  expect(statusOf()?.build).toMatchObject({ number: 2, result: 'running', request: requested('build') });
  expect(statusOf()?.builds).toEqual([expect.objectContaining({ number: 1, result: 'superseded', commit: 'c1' })]);
  expect(statusOf()?.builds?.[0]).not.toHaveProperty('request');
});

test.each([true, false])('keeps an environment of a missing ref empty, buildOnCreate %s', async (buildOnCreate) => {
  await start();
  simulation.hasRef = false;
  const states = new Set<string>();
  simulation.environments.addHandler(({ status }) => states.add(status?.state ?? 'empty'));
  simulation.spawn(name, { buildOnCreate });
  await simulation.clock.advance(5000);
  expect([...states]).toEqual(['empty']);
  const created = statusOf()?.conditions?.find(({ type }) => type === 'Created');
  expect(created).toMatchObject({ status: 'False', reason: 'RefNotFound' });
  expect(statusOf()?.build?.result).toBe(buildOnCreate ? 'failed' : undefined);
});

test('removes an environment of a missing ref, with its namespace, after a delete request', async () => {
  await start();
  simulation.hasRef = false;
  simulation.spawn(name);
  await simulation.clock.advance(2000);
  expect(simulation.namespaces.list()).toHaveLength(1);
  simulation.request(name, 'delete');
  await simulation.clock.advance(10_000);
  expect(simulation.read(name)).toBeUndefined();
  expect(simulation.namespaces.list()).toEqual([]);
});

test('builds an environment on request after its ref was pushed, and then keeps it after a delete request', async () => {
  await start();
  simulation.hasRef = false;
  simulation.spawn(name);
  await simulation.clock.advance(2000);
  simulation.hasRef = true;
  simulation.request(name, 'create', 'build');
  await simulation.clock.advance(5000);
  expect(statusOf()).toMatchObject({ state: 'built', build: { number: 2, result: 'succeeded' } });
  simulation.hasRef = false;
  simulation.request(name, 'build');
  await simulation.clock.advance(5000);
  simulation.request(name, 'delete');
  await simulation.clock.advance(10_000);
  expect(statusOf()?.state).toBe('empty');
});

test('reports no web address once it is known that no service is public', async () => {
  await start();
  simulation.hasRef = false;
  simulation.spawn(name, { buildOnCreate: false });
  await simulation.clock.advance(2000);
  expect(statusOf()?.webURL).toBe('http://shop-main--acme.env.localhost/');
  simulation.hasRef = true;
  simulation.request(name, 'build');
  await simulation.clock.advance(5000);
  expect(statusOf()?.state).toBe('built');
  expect(statusOf()).not.toHaveProperty('webURL');
  simulation.wakeAll();
  await simulation.clock.advance(1000);
  expect(statusOf()).not.toHaveProperty('webURL');
});
