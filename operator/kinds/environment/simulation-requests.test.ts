import { expect, test } from '@jest/globals';
import { Simulation } from './testing/simulation.ts';

/** Returns the requests of a creation in their order, except those that create the contents of the namespace. */
async function requestsOfCreation(spawn: (simulation: Simulation) => void): Promise<string[]> {
  const simulation = new Simulation();
  const requests: string[] = [];
  const real = { ...simulation.client };
  Object.assign(simulation.client, {
    create: (...[type, object]: Parameters<typeof real.create>) => {
      requests.push(`create ${type.kind}`);
      return real.create(type, object);
    },
    patch: (...[type, at, change, options]: Parameters<typeof real.patch>) => {
      const { annotations = {}, finalizers } = change.metadata;
      const what = [...Object.keys(annotations), ...(finalizers ? ['finalizer'] : [])];
      requests.push(`patch ${type.kind}: ${what.join(', ')}`);
      return real.patch(type, at, change, options);
    },
    applyStatus: (...[type, object]: Parameters<typeof real.applyStatus>) => {
      requests.push(`status: ${object.status.state ?? ''}`);
      return real.applyStatus(type, object);
    },
  });
  await simulation.operate();
  spawn(simulation);
  await simulation.clock.advance(60_000);
  await simulation.stop();
  return requests;
}

const contents = [
  'status: empty',
  'create Namespace',
  'patch Namespace: coppice.dev/isolation, coppice.dev/pull-secret',
  'status: created',
  'status: building',
  'status: built',
  'patch Namespace: coppice.dev/deployed',
];

test('creates a built environment with seven requests beside those for the objects in its namespace', async () => {
  expect(await requestsOfCreation((simulation) => simulation.spawn('shop-main'))).toEqual(contents);
});

test('adds the finalizer, if whoever created the Environment has not', async () => {
  const requests = await requestsOfCreation((simulation) => simulation.spawn('shop-main', {}, []));
  expect(requests).toEqual(['patch Environment: finalizer', ...contents]);
});
