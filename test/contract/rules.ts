import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { RestClient } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { created, emptied, until } from './environment-endpoints.ts';
import type { RuleRow, StateRow, TypeRow } from './rows.ts';
import type { World } from './world.ts';

/** Cases of section 3. */
export const STATE_CASES: Record<StateRow, (world: World) => Promise<void>> = {
  'PUT of an empty environment': async (world) => {
    const id = await emptied(world);
    expect(await world.client.environment(id)).toMatchObject({ status: 'empty' });
    await world.ask(202, 'PUT', `/api/environment/${id}?build=false`);
    await until(world, id, 'created');
  },
  'DELETE where no other shares the Git reference': async (world) => {
    const id = await emptied(world);
    await world.ask(202, 'PUT', `/api/environment/${id}?build=false`);
    await until(world, id, 'created');
    await world.ask(202, 'DELETE', `/api/environment/${id}`);
    await until(world, id, 'empty');
  },
  'DELETE where others share the Git reference': async (world) => {
    const id = await created(world);
    await world.ask(202, 'DELETE', `/api/environment/${id}`);
    const statuses = new Set<string>();
    await waitFor('the environment to be gone', 60, async () => {
      const { status, text } = await world.client.send('GET', `/api/environment/${id}?build=false`);
      if (status === 404) return true;
      statuses.add((JSON.parse(text) as { status: string }).status);
      return undefined;
    });
    expect([...statuses]).not.toContain('empty');
  },
};

/** Section 4, params by type: the required ones (`instanceUrl` and ownerhost's `token` are optional). */
export const TYPE_PARAMETERS: Record<TypeRow, string[]> = {
  generic: ['params.origin'],
  cloudorg: ['params.orgUrl', 'params.project', 'params.repoName', 'params.accessToken'],
  groupedhost: ['params.group', 'params.project', 'params.token'],
  workspacehost: ['params.workspace', 'params.repository', 'params.token'],
  ownerhost: ['params.owner', 'params.repo'],
};

/** Cases of sections 5, 7 and 8. */
export const RULE_CASES: Record<RuleRow, (world: World) => Promise<void>> = {
  'authentication: every endpoint needs a token of POST /api/user/login': async ({ client, harness }) => {
    const stranger = new RestClient(harness.connection.apiUrl);
    const document = JSON.parse((await stranger.send('GET', '/api/openapi.json')).text) as {
      paths: Record<string, Record<string, { security?: unknown[] }>>;
    };
    const open: string[] = [];
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { security }] of Object.entries(operations)) {
        if (security === undefined) expect((await stranger.send(method.toUpperCase(), path)).status).toBe(400);
        else open.push(`${method} ${path}`);
      }
    }
    expect(open).toEqual(expect.arrayContaining(['post /api/user/login', 'post /api/user/register']));
    // Whoever signs in has no token yet, and a password or a link opens an environment to visitors.
    const known =
      /login|register|oidc|webhooks|openapi|invitation|user\/device(\/token)?$|authorizations\/token|access\/password/;
    expect(open.filter((one) => !known.test(one))).toEqual([]);
    expect((await client.send('GET', '/api/user/info')).status).toBe(200);
  },
  'authentication: by the header X-SERVICE-TOKEN or the cookie token': async ({ client, harness }) => {
    const stranger = new RestClient(harness.connection.apiUrl);
    const asked = async (headers: Record<string, string>) =>
      (await stranger.send('GET', '/api/groups', undefined, headers)).status;
    expect(await asked({ 'X-SERVICE-TOKEN': client.token ?? '' })).toBe(200);
    expect(await asked({ cookie: `token=${client.token ?? ''}` })).toBe(200);
    expect(await asked({})).toBe(400);
  },
  'authentication: the header is checked first': async ({ client, harness }) => {
    const stranger = new RestClient(harness.connection.apiUrl);
    const headers = { 'X-SERVICE-TOKEN': 'wrong', cookie: `token=${client.token ?? ''}` };
    expect((await stranger.send('GET', '/api/groups', undefined, headers)).status).toBe(401);
    const other = { 'X-SERVICE-TOKEN': client.token ?? '', cookie: 'token=wrong' };
    expect((await stranger.send('GET', '/api/groups', undefined, other)).status).toBe(200);
  },
  'authentication: logout ends the token that was used': async ({ harness }) => {
    const password = 'correct horse battery';
    const { email = '' } = await harness.newUser(password);
    const client = new RestClient(harness.connection.apiUrl);
    await client.login(email, password);
    expect((await client.send('POST', '/api/user/logout')).status).toBe(200);
    expect((await client.send('GET', '/api/user/info')).status).toBe(401);
  },
  'authentication: API tokens expire, and may be read-only': async (world) => {
    const user = await world.harness.newUser();
    const robot = async (readOnly: boolean, expirationTime: Date) => {
      const body = { name: `${readOnly} ${expirationTime.getTime()}`, expirationTime, readOnly };
      const { token } = await world.ask(201, 'POST', '/api/user/tokens', body, user);
      const client = new RestClient(world.harness.connection.apiUrl);
      client.token = String(token);
      return client;
    };
    const inAnHour = new Date(Date.now() + 3_600_000);
    const reader = await robot(true, inAnHour);
    expect((await reader.send('GET', '/api/groups')).status).toBe(200);
    expect((await reader.send('POST', '/api/groups', { name: 'no' })).status).toBe(403);
    const soon = new Date(Date.now() + 15_000);
    const shortLived = await robot(false, soon);
    expect((await shortLived.send('GET', '/api/groups')).status).toBe(200);
    await delay(soon.getTime() - Date.now() + 1000);
    expect((await shortLived.send('GET', '/api/groups')).status).toBe(401);
  },
  'error: 400, 401 and 404, with a string in error': async ({ client, harness, repository }) => {
    const stranger = new RestClient(harness.connection.apiUrl);
    const wrong = { 'X-SERVICE-TOKEN': 'wrong' };
    const path = `/api/repository/${repository}`;
    const other = await harness.newUser();
    const hidden = await other.send('GET', path);
    const absent = await client.send('GET', `${path}-not-there`);
    const answers = [
      await stranger.send('GET', path),
      await stranger.send('GET', path, undefined, wrong),
      hidden,
      absent,
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 401, 404, 404]);
    for (const { text } of answers) expect(JSON.parse(text)).toEqual({ error: expect.any(String) });
    expect(hidden.text).toBe(absent.text);
  },
  'constant: build is true by default for spawn, creation and GET': async (world) => {
    const path = `/api/repository/${world.repository}/spawn`;
    const spawned = await world.ask(201, 'POST', path, { gitRef: { name: 'main', type: 'branch' } });
    const put = await emptied(world);
    await world.ask(202, 'PUT', `/api/environment/${put}`);
    const read = await created(world);
    await world.ask(200, 'GET', `/api/environment/${read}`);
    for (const id of [String(spawned['id']), put, read]) await until(world, id, 'built');
  },
  'constant: serviceFile.mode is repo by default': async (world) => {
    const path = `/api/repository/${world.repository}/settings`;
    expect(await world.ask(200, 'GET', path)).toMatchObject({ serviceFile: { mode: 'repo' } });
  },
  'constant: ttl and environmentTTL are omitted when zero': async (world) => {
    const path = `/api/repository/${world.repository}/settings`;
    expect(await world.ask(200, 'GET', path)).not.toHaveProperty('environmentTTL');
    expect(await world.client.environment(await created(world, { ttl: 0 }))).not.toHaveProperty('ttl');
  },
};

/** Verifies that a type without params is answered with the names of all required ones, as in the contract. */
export async function namesItsParameters(world: World, type: TypeRow): Promise<void> {
  const body = { name: type, type, params: {} };
  const { details } = await world.ask(422, 'POST', `/api/group/${world.group}`, body);
  const paths = (details as { path: string }[]).map(({ path }) => path);
  expect(paths.sort()).toEqual(TYPE_PARAMETERS[type].toSorted());
}
