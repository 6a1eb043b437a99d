// The table of features by caller in docs/reference/access.md, at the running API: who is refused.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { featureRows, type Answer } from '../../api/testing/feature-table.ts';
import { z } from 'zod';
import { RestClient } from '../client/rest-client.ts';
import { startHarness, type Harness } from './harness.ts';

let harness: Harness;
let environment: string;
let repository: string;
let readOnly: RestClient;
let member: RestClient;
let outside: RestClient;
let visitor: RestClient;

beforeAll(async () => {
  harness = await startHarness('features');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  environment = await harness.spawn(repository, 'main', { build: false });
  readOnly = await harness.client.withApiToken('reader', new Date(Date.now() + 3600_000), true);
  [outside, member] = await Promise.all([harness.newUser(), harness.newUser()]);
  await harness.client.call(z.unknown(), 'POST', `/api/group/${harness.group}/members`, { name: member.email });
  visitor = new RestClient(harness.connection.apiUrl);
}, 120_000);

afterAll(() => harness.remove(), 60_000);

test.each(featureRows())('$feature: $method $path', async (row) => {
  const path = row.path
    .replace('environment/{id}', `environment/${environment}`)
    .replace('repository/{id}', `repository/${repository}`)
    .replace('{service}', 'web');
  const body = row.method === 'get' ? undefined : { nonsense: true };
  const answers = await Promise.all(
    [readOnly, member, outside, visitor].map((client) => client.send(row.method.toUpperCase(), path, body)),
  );
  const statuses = answers.map(({ status }) => status);
  // Whoever passes the check of permissions gets to that of the body, which is wrong.
  const passed = (answer: Answer) => (answer === 'yes' ? (row.method === 'get' ? 200 : 422) : answer);
  expect(statuses).toEqual([passed(row.readOnly), passed(row.member), row.outside, row.visitor]);
});
