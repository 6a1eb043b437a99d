import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { everyRouteApi, ROUTES } from '../testing/every-route.ts';
import { featureRows, type Answer, type FeatureRow } from '../testing/feature-table.ts';
import type { TestApi } from '../testing/test-api.ts';

// docs/reference/access.md has a table of the features, and of what each caller gets of them.

const rows = featureRows();
const refusals = [400, 401, 403, 404];
const shell = { isEnabled: true, allowsForks: false, idleMs: 60_000 };
let api: TestApi;
let tokens: Record<'owner' | 'member' | 'readOnly' | 'outside', string>;

beforeEach(async () => {
  const { api: made, token: owner, memberToken: member } = await everyRouteApi({ shell });
  api = made;
  const status = { webURL: 'http://shop-main--acme.env.localhost/', services: [{ name: 'web', ready: true }] };
  api.cluster.change(ENVIRONMENT, { namespace: 'group-acme', name: 'shop-main' }, { status });
  api.cluster.change(GROUP, { name: 'acme' }, { spec: { owners: ['alice@example.com'] } });
  const { token: outside } = await api.login('eve@example.com');
  const body = { name: 'reader', expirationTime: '2026-02-01T00:00:00Z', readOnly: true };
  const reader = await request(api.app).post('/api/user/tokens').set('x-service-token', owner).send(body).expect(201);
  tokens = { owner, member, outside, readOnly: (reader.body as { token: string }).token };
});

/** Returns the request of a row with a body that the endpoint accepts. */
function requestOf({ method, path }: FeatureRow): { path: string; body: object | undefined } {
  const pattern = new RegExp(`^${path.replaceAll('?', '\\?').replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
  const found = ROUTES.find((route) => route.method === method && pattern.test(route.path));
  if (!found) throw new Error(`api/testing/every-route.ts has no ${method} ${path}`);
  return { path: found.path, body: found.body };
}

async function answerTo(row: FeatureRow, caller: keyof typeof tokens | undefined): Promise<Answer> {
  const { path, body } = requestOf(row);
  const sent = request(api.app)[row.method](path);
  if (caller) sent.set('x-service-token', tokens[caller]);
  const { status } = await (body === undefined ? sent : sent.send(body));
  return refusals.includes(status) ? status : 'yes';
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
    expect(await answerTo(row, caller)).toBe(row[column]);
  });

  test('does not refuse an owner of the group', async () => {
    expect(await answerTo(row, 'owner')).toBe('yes');
  });
});
