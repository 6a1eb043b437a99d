import { expect } from '@jest/globals';
import type { RestClient } from '../client/rest-client.ts';
import { ofGroup } from './variable-endpoints.ts';
import type { World } from './world.ts';

export const GROUP_CASES = {
  'GET /api/groups': async (world: World) => {
    const groups = await world.list(200, 'GET', '/api/groups');
    expect(groups).toContainEqual({ id: world.group, name: world.group });
  },
  'GET /api/group/{groupID}': async (world: World) => {
    const answer = await world.ask(200, 'GET', `/api/group/${world.group}`);
    expect(answer).toMatchObject({ name: world.group, repositories: expect.any(Array) });
  },
  'POST /api/group/{groupID}': async (world: World) => {
    const body = { name: 'Added one', type: 'generic', params: { origin: world.origin } };
    const answer = await world.inSequence(() => world.ask(201, 'POST', `/api/group/${world.group}`, body));
    expect(answer).toMatchObject({ id: `${world.group}.added-one`, gid: world.group, name: 'Added one' });
    await world.ask(409, 'POST', `/api/group/${world.group}`, body);
  },
  'GET /api/group/{groupID}/settings': async (world: World) => {
    const answer = await world.ask(200, 'GET', `/api/group/${world.group}/settings`);
    expect(answer).toMatchObject({ variables: expect.any(Array), members: expect.any(Array) });
  },
  'POST /api/group/{groupID}/variables': ofGroup.create,
  'DELETE /api/group/{groupID}/variables/{varName}': ofGroup.remove,
  'PATCH /api/group/{groupID}/variables': ofGroup.change,
  'POST /api/group/{groupID}/leave': async (world: World) => {
    const bob = await world.harness.newUser();
    await addMember(world, bob);
    await world.ask(200, 'GET', `/api/group/${world.group}`, undefined, bob);
    await world.ask(200, 'POST', `/api/group/${world.group}/leave`, undefined, bob);
    await world.ask(404, 'GET', `/api/group/${world.group}`, undefined, bob);
  },
  'POST /api/group/{groupID}/members': async (world: World) => {
    const bob = await world.harness.newUser();
    await world.ask(404, 'GET', `/api/group/${world.group}`, undefined, bob);
    await addMember(world, bob);
    await world.ask(200, 'GET', `/api/group/${world.group}`, undefined, bob);
    await world.ask(409, 'POST', `/api/group/${world.group}/members`, { name: bob.email });
  },
  'DELETE /api/group/{groupID}/members/{memberEmail}': async (world: World) => {
    const bob = await world.harness.newUser();
    await addMember(world, bob);
    const path = `/api/group/${world.group}/members/${encodeURIComponent(bob.email ?? '')}`;
    expect((await world.client.send('DELETE', path)).status).toBe(200);
    await world.ask(404, 'GET', `/api/group/${world.group}`, undefined, bob);
    await world.ask(404, 'DELETE', path);
  },
};

async function addMember({ client, group }: World, { email }: RestClient): Promise<void> {
  expect((await client.send('POST', `/api/group/${group}/members`, { name: email })).status).toBe(201);
}
