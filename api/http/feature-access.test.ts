import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP } from '../../crds/group.ts';
import { everyRouteApi, ROUTES } from '../testing/every-route.ts';
import { featureRows, type FeatureRow } from '../testing/feature-table.ts';
import type { TestApi } from '../testing/test-api.ts';

// docs/reference/access.md has a table of the features, and of what each caller gets of them.

const rows = featureRows();
let api: TestApi;
let tokens: Record<'owner' | 'member' | 'readOnly' | 'outside', string>;

beforeEach(async () => {
  const { api: made, token: owner, memberToken: member } = await everyRouteApi();
  api = made;
  api.cluster.change(GROUP, { name: 'acme' }, { spec: { owners: ['alice@example.com'] } });
  const { token: outside } = await api.login('eve@example.com');
  const body = { name: 'reader', expirationTime: '2026-02-01T00:00:00Z', readOnly: true };
  const reader = await request(api.app).post('/api/user/tokens').set('x-service-token', owner).send(body).expect(201);
  tokens = { owner, member, outside, readOnly: (reader.body as { token: string }).token };
});

/** Returns the request of a row with a body that the endpoint accepts. */
function requestOf({ method, path }: FeatureRow): { path: string; body: object | undefined } {
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
  const found = ROUTES.find((route) => route.method === method && pattern.test(route.path));
  if (!found) throw new Error(`api/testing/every-route.ts has no ${method} ${path}`);
  return { path: found.path, body: found.body };
}

async function statusOf(row: FeatureRow, caller: keyof typeof tokens | undefined): Promise<number> {
  const { path, body } = requestOf(row);
  const sent = request(api.app)[row.method](path);
  if (caller) sent.set('x-service-token', tokens[caller]);
  return (await (body === undefined ? sent : sent.send(body))).status;
}

test('the table names requests', () => {
  expect(rows.length).toBeGreaterThanOrEqual(4);
});

describe.each(rows)('$feature: $method $path', (row) => {
  test.each<[keyof typeof tokens | undefined, keyof FeatureRow]>([
    ['readOnly', 'readOnly'],
    ['member', 'member'],
    ['outside', 'outside'],
    [undefined, 'visitor'],
  ])('answers %s as the table says', async (caller, column) => {
    expect(await statusOf(row, caller)).toBe(row[column]);
  });

  test('answers an owner of the group as any member', async () => {
    expect(await statusOf(row, 'owner')).toBe(row.member);
  });
});
