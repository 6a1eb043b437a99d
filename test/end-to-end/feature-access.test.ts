// The table of features by caller in docs/reference/access.md, at the running API: who is refused.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { featureRows } from '../../api/testing/feature-table.ts';
import { RestClient } from '../client/rest-client.ts';
import { startHarness, type Harness } from './harness.ts';

let harness: Harness;
let environment: string;
let repository: string;
let readOnly: RestClient;
let outside: RestClient;
let visitor: RestClient;

beforeAll(async () => {
  harness = await startHarness('features');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  environment = await harness.spawn(repository, 'main', { build: false });
  readOnly = await harness.client.withApiToken('reader', new Date(Date.now() + 3600_000), true);
  outside = await harness.newUser();
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
    [readOnly, outside, visitor].map((client) => client.send(row.method.toUpperCase(), path, body)),
  );
  const statuses = answers.map(({ status }) => status);
  // Whoever passes the check of permissions gets to that of the body, which is wrong.
  const reader = row.readOnly === 'yes' ? (row.method === 'get' ? 200 : 422) : row.readOnly;
  expect(statuses).toEqual([reader, row.outside, row.visitor]);
});
