import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { RestClient } from '../client/rest-client.ts';
import { randomName, startHarness, type Harness } from './harness.ts';
import { testAddress } from './test-account.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness('users');
}, 60_000);
afterAll(() => harness.remove(), 60_000);

test("lets the chart's administrator invite a user, and removes the user with all tokens at once", async () => {
  const { kubectl, connection } = harness;
  const template = '{{ .data.email | base64decode }} {{ .data.password | base64decode }}';
  const args = ['--namespace', 'coppice-system', 'get', 'secret', 'coppice-administrator'];
  const [address = '', initial = ''] = (await kubectl([...args, '--output', `go-template=${template}`])).split(' ');
  const root = new RestClient(connection.apiUrl);
  await root.login(address, initial);

  const email = testAddress(randomName('users'));
  const password = 'correct horse';
  const { invitation } = await root.call(z.object({ invitation: z.string() }), 'POST', '/api/users', { email });
  const refused = await root.send('POST', '/api/user/register', { email, password });
  expect(refused.status).toBe(409);
  const accepted = await root.send('POST', '/api/user/register', { email, password, invitation });
  expect([accepted.status, accepted.text]).toEqual([201, JSON.stringify({ email, apiTokens: [] })]);
  const user = new RestClient(connection.apiUrl);
  await user.login(email, password);
  const robot = await user.withApiToken('robot', new Date('2100-01-01'));
  expect((await robot.send('GET', '/api/groups')).status).toBe(200);

  expect((await root.send('DELETE', `/api/users/${email}`)).status).toBe(200);
  for (const client of [user, robot]) expect((await client.send('GET', '/api/groups')).status).toBe(401);
  expect((await harness.client.send('GET', '/api/users')).status).toBe(404);
}, 60_000);
