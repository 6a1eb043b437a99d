import { expect } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { pushBranches } from '../end-to-end/branches.ts';
import { until } from './environment-endpoints.ts';
import { ofRepository } from './variable-endpoints.ts';
import type { Json, World } from './world.ts';

const main = { gitRef: { name: 'main', type: 'branch' } };

export const REPOSITORY_CASES = {
  'GET /api/repository/{repoID}': async (world: World) => {
    const answer = await world.ask(200, 'GET', `/api/repository/${world.repository}`);
    expect(answer).toMatchObject({
      id: world.repository,
      environments: expect.any(Array),
      reusableEnvironments: expect.any(Array),
    });
  },
  'POST /api/repository/{repoID}': async (world: World) => {
    const id = await world.newRepository('plain');
    const answer = await world.ask(200, 'POST', `/api/repository/${id}`, { name: 'A new name' });
    expect(answer).toMatchObject({ id, name: 'A new name' });
    await world.ask(422, 'POST', `/api/repository/${id}`, {});
  },
  'DELETE /api/repository/{repoID}': async (world: World) => {
    const id = await world.newRepository('going');
    await world.ask(202, 'DELETE', `/api/repository/${id}`);
    await waitFor('the repository to be gone', 60, async () =>
      (await world.client.send('GET', `/api/repository/${id}`)).status === 404 ? true : undefined,
    );
  },
  'GET /api/repository/{repoID}/settings': async (world: World) => {
    const answer = await world.ask(200, 'GET', `/api/repository/${world.repository}/settings`);
    expect(answer).toMatchObject({
      variables: expect.any(Array),
      sshPublicKey: expect.any(String),
      scheduledRebuild: { mode: 'disabled', hour: '' },
      serviceFile: { mode: 'repo', serviceFile: '' },
    });
  },
  'POST /api/repository/{repoID}/settings': async (world: World) => {
    const path = `/api/repository/${await world.newRepository('settings')}/settings`;
    expect(await world.ask(200, 'POST', path, { environmentTTL: '60' })).toMatchObject({ environmentTTL: 60 });
    for (const mode of ['all', 'reusables', 'disabled']) {
      const scheduledRebuild = { mode, hour: '23:59' };
      expect(await world.ask(200, 'POST', path, { scheduledRebuild })).toMatchObject({ scheduledRebuild });
    }
    for (const mode of ['panel', 'both', 'repo']) {
      const serviceFile = { mode, serviceFile: Buffer.from('services: {}\n').toString('base64') };
      expect(await world.ask(200, 'POST', path, { serviceFile })).toMatchObject({ serviceFile, environmentTTL: 60 });
    }
    await world.ask(422, 'POST', path, { scheduledRebuild: { hour: '24:00' } });
  },
  'POST /api/repository/{repoID}/spawn': async (world: World) => {
    const body = { ...main, name: 'Mine', build: 'false', ttl: '3600' };
    const answer = await world.ask(201, 'POST', `/api/repository/${world.repository}/spawn`, body);
    expect(answer).toEqual({
      id: expect.any(String),
      name: 'Mine',
      status: expect.any(String),
      weburl: expect.any(String),
    });
    const id = String(answer['id']);
    await until(world, id, 'created');
    expect(await world.client.environment(id)).toMatchObject({ ttl: 3600, gitRef: main.gitRef });
    await world.ask(422, 'POST', `/api/repository/${world.repository}/spawn`, {
      gitRef: { name: 'x', type: 'commit' },
    });
  },
  'POST /api/repository/{repoID}/sync': async (world: World) => {
    const id = await world.newRepository('synced');
    await pushBranches(world.origin, { 'index.html': 'late\n' }, ['late']);
    await world.ask(202, 'POST', `/api/repository/${id}/sync`);
    await waitFor('the environment of the new branch', 60, async () => {
      const { environments } = await world.ask(200, 'GET', `/api/repository/${id}`);
      return (environments as { gitRef: object }[]).find(({ gitRef }) => 'name' in gitRef && gitRef.name === 'late');
    });
  },
  'DELETE /api/repository/{repoID}/reusable/{reusableLabel}': async (world: World) => {
    const path = `/api/repository/${await world.newRepository('reused')}`;
    const reusable = [{ label: 'base', refs: [main.gitRef] }];
    await world.ask(200, 'POST', `${path}/settings`, { reusable });
    await world.ask(404, 'DELETE', `${path}/reusable/base`);
    await world.ask(201, 'POST', `${path}/spawn`, main);
    const listed = async () => (await world.ask(200, 'GET', path))['reusableEnvironments'] as Json[];
    await waitFor('a reusable environment', 120, async () => ((await listed()).length > 0 ? true : undefined));
    const answer = await world.ask(202, 'DELETE', `${path}/reusable/base`);
    expect(answer).toMatchObject({ reusableEnvironments: [] });
    await waitFor('it to be gone', 60, async () => ((await listed()).length === 0 ? true : undefined));
  },
  'POST /api/repository/{repoID}/variables': ofRepository.create,
  'DELETE /api/repository/{repoID}/variables/{varName}': ofRepository.remove,
  'PATCH /api/repository/{repoID}/variables': ofRepository.change,
};
