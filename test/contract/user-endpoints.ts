import { expect } from '@jest/globals';
import { RestClient } from '../client/rest-client.ts';
import type { World } from './world.ts';

const password = 'correct horse battery';

export const USER_CASES = {
  'POST /api/user/login': async (world: World) => {
    const client = await world.harness.newUser(password);
    const answer = await world.ask(200, 'POST', '/api/user/login', { email: client.email, password });
    expect(answer).toEqual({ token: expect.any(String) });
    await world.ask(401, 'POST', '/api/user/login', { email: client.email, password: 'another one' });
  },
  'POST /api/user/logout': async (world: World) => {
    const client = await world.harness.newUser(password);
    const other = new RestClient(world.harness.connection.apiUrl);
    await other.login(client.email ?? '', password);
    await world.ask(200, 'POST', '/api/user/logout', undefined, other);
    await world.ask(401, 'GET', '/api/user/info', undefined, other);
    await world.ask(200, 'GET', '/api/user/info', undefined, client);
  },
  'POST /api/user/register': async (world: World) => {
    const client = await world.harness.newUser(password);
    const body = { email: client.email, password };
    await world.ask(409, 'POST', '/api/user/register', body);
    await world.ask(422, 'POST', '/api/user/register', { email: 'nobody', password: 'short' });
  },
  'GET /api/user/info': async (world: World) => {
    const client = await world.harness.newUser(password);
    expect(await world.ask(200, 'GET', '/api/user/info', undefined, client)).toEqual({
      email: client.email,
      apiTokens: [],
      // An extension, because the local cluster permits shells.
      shell: true,
    });
  },
  'POST /api/user/tokens': async (world: World) => {
    const client = await world.harness.newUser(password);
    const body = { name: 'one', expirationTime: '2100-01-02T03:04:05+01:00', readOnly: true };
    const answer = await world.ask(201, 'POST', '/api/user/tokens', body, client);
    expect(answer).toMatchObject({ Name: 'one', token: expect.any(String) });
    await world.ask(409, 'POST', '/api/user/tokens', body, client);
    await world.ask(422, 'POST', '/api/user/tokens', { name: 'two', expirationTime: 'tomorrow' }, client);
  },
  'DELETE /api/user/tokens': async (world: World) => {
    const client = await world.harness.newUser(password);
    for (const name of ['one', 'two']) {
      await world.ask(201, 'POST', '/api/user/tokens', { name, expirationTime: '2100-01-02T03:04:05Z' }, client);
    }
    const ofBody = await client.send('DELETE', '/api/user/tokens', { name: 'one' });
    expect(JSON.parse(ofBody.text)).toEqual([expect.objectContaining({ Name: 'two' })]);
    expect((await client.send('DELETE', '/api/user/tokens?name=two')).text).toBe('[]');
    await world.ask(404, 'DELETE', '/api/user/tokens', { name: 'one' }, client);
  },
};
