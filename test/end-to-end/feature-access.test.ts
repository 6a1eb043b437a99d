// The table of features by caller in docs/reference/access.md, at the running API: who is refused.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { featureRows } from '../../api/testing/feature-table.ts';
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
  // Only the body shows what needs an owner, so that of these requests is valid.
  const owned = { '/access': { access: 'members' }, '/share/end': { all: true } };
  const valid = Object.entries(owned).find(([end]) => row.path.endsWith(end))?.[1];
  const body = row.method === 'get' ? undefined : (valid ?? { nonsense: true });
  const answers = await Promise.all(
    [readOnly, outside, visitor, member].map((client) => client.send(row.method.toUpperCase(), path, body)),
  );
  const statuses = answers.map(({ status }) => status);
  // Whoever passes the check of permissions gets to that of the body, which is wrong.
  const reader = row.readOnly === 'yes' ? (row.method === 'get' ? 200 : 422) : row.readOnly;
  const [byMember = NaN, ...others] = statuses.toReversed();
  expect(others.toReversed()).toEqual([reader, row.outside, row.visitor]);
  // Nothing is deployed, which some requests answer with 409 or 426.
  expect([400, 401, 403, 404].includes(byMember) ? byMember : 'yes').toBe(row.member);
});
