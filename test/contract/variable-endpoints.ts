import { expect } from '@jest/globals';
import type { World } from './world.ts';

/** Returns the cases of the three variable endpoints, which are the same for groups and repositories. */
const variableCases = (of: (world: World) => string) => ({
  create: async (world: World) => {
    const path = of(world);
    const one = { name: 'ONE', value: '1', visibility: 'buildtime' };
    expect(await world.ask(201, 'POST', `${path}/variables`, one)).toEqual(one);
    const two = await world.ask(201, 'POST', `${path}/variables`, { name: 'TWO', value: '2' });
    expect(two).toEqual({ name: 'TWO', value: '2', visibility: 'always' });
    await world.ask(409, 'POST', `${path}/variables`, one);
    await world.ask(422, 'POST', `${path}/variables`, { name: 'THREE' });
  },
  change: async (world: World) => {
    const path = of(world);
    await world.ask(201, 'POST', `${path}/variables`, { name: 'CHANGED', value: '1' });
    const name = 'CHANGED';
    const changed = await world.ask(200, 'PATCH', `${path}/variables`, { name, value: '2' });
    expect(changed).toEqual({ name, value: '2', visibility: 'always' });
    const hidden = await world.ask(200, 'PATCH', `${path}/variables`, { name, visibility: 'buildtime' });
    expect(hidden).toEqual({ name, value: '2', visibility: 'buildtime' });
    await world.ask(422, 'PATCH', `${path}/variables`, { name });
    await world.ask(404, 'PATCH', `${path}/variables`, { name: 'NOBODY', value: '2' });
  },
  remove: async (world: World) => {
    const path = of(world);
    await world.ask(201, 'POST', `${path}/variables`, { name: 'GOING', value: '1' });
    const left = await world.list(200, 'DELETE', `${path}/variables/GOING`);
    expect(left.map(({ name }) => name)).not.toContain('GOING');
    await world.ask(404, 'DELETE', `${path}/variables/GOING`);
  },
});
export const ofRepository = variableCases(({ repository }) => `/api/repository/${repository}`);
export const ofGroup = variableCases(({ group }) => `/api/group/${group}`);
