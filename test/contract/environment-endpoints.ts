import { expect } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import type { World } from './world.ts';

/** Creates an environment with contents that are not built. */
export async function created({ client, harness, repository }: World, options: object = {}): Promise<string> {
  const id = await harness.spawn(repository, 'main', { build: false, ...options });
  await client.waitForEnvironment(id, ({ status }) => status === 'created', 60);
  return id;
}

export async function until(world: World, id: string, status: string): Promise<void> {
  await world.client.waitForEnvironment(id, (one) => one.status === status, 120);
}

/** Returns whether the contents are being built or are built. */
const isBuilding = (one: { status: string }) => ['building', 'built'].includes(one.status);

export const ENVIRONMENT_CASES = {
  'GET /api/environment/{environmentID}': async (world: World) => {
    const id = await created(world);
    expect(await world.ask(200, 'GET', `/api/environment/${id}?build=false`)).toMatchObject({ id, status: 'created' });
    await world.ask(422, 'GET', `/api/environment/${id}?build=maybe`);
    await world.ask(200, 'GET', `/api/environment/${id}?build=true`);
    await world.client.waitForEnvironment(id, isBuilding, 60);
  },
  'PUT /api/environment/{environmentID}': async (world: World) => {
    const id = await emptied(world);
    const answer = await world.ask(202, 'PUT', `/api/environment/${id}?build=true&ttl=60`, {
      build: 'false',
      ttl: 7200,
    });
    expect(answer).toMatchObject({ id, ttl: 7200 });
    await until(world, id, 'created');
    await world.ask(409, 'PUT', `/api/environment/${id}`);
  },
  'DELETE /api/environment/{environmentID}': async (world: World) => {
    const id = await created(world);
    expect(await world.ask(202, 'DELETE', `/api/environment/${id}`)).toMatchObject({ id });
  },
  'POST /api/environment/{environmentID}/build': async (world: World) => {
    const id = await created(world);
    expect(await world.ask(202, 'POST', `/api/environment/${id}/build`)).toMatchObject({ id });
    await until(world, id, 'built');
  },
  'POST /api/environment/{environmentID}/rebuild': async (world: World) => {
    const id = await emptied(world);
    expect(await world.ask(202, 'POST', `/api/environment/${id}/rebuild`)).toMatchObject({ id });
    await until(world, id, 'built');
  },
  'GET /api/environment/{environmentID}/build/logs': async (world: World) => {
    const id = await world.harness.spawn(world.repository, 'main');
    const messages: object[] = [];
    for await (const message of world.client.log(id)) messages.push(message);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.at(-1)).toMatchObject({ end: { result: 'succeeded' } });
  },
  'POST /api/environment/{environmentID}/ttl': async (world: World) => {
    const id = await created(world);
    expect(await world.ask(200, 'POST', `/api/environment/${id}/ttl`, { ttl: 7200 })).toMatchObject({ id, ttl: 7200 });
    expect(await world.ask(200, 'POST', `/api/environment/${id}/ttl`, { ttl: 0 })).not.toHaveProperty('ttl');
    await world.ask(422, 'POST', `/api/environment/${id}/ttl`, {});
  },
};

/**
 * Returns the environment of a branch that no other case uses, as a sync created it: empty, and the only one of its
 * ref.
 */
export function emptied({ repository, takeBranch, ask }: World): Promise<string> {
  const branch = takeBranch();
  return waitFor('the environment of a branch', 120, async () => {
    const { environments } = await ask(200, 'GET', `/api/repository/${repository}`);
    const all = environments as { id: string; gitRef: { name: string } }[];
    return all.find(({ gitRef }) => gitRef.name === branch)?.id;
  });
}
