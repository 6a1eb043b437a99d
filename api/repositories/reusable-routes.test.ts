import { expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import {
  REUSABLE_ENVIRONMENT,
  reusableName,
  type ReusableEnvironment,
  type ReusableEnvironmentStatus,
} from '../../crds/reusable-environment.ts';
import { TestApi } from '../testing/test-api.ts';

const published: ReusableEnvironmentStatus = {
  builtAt: '2026-01-01T00:00:00+01:00',
  publication: 'p',
  from: { environment: 'shop-main', environmentUID: 'u', gitRef: { name: 'main', type: 'branch' }, build: 1 },
};

function add(api: TestApi, repository: string, label: string, status?: ReusableEnvironmentStatus): void {
  api.cluster.add<ReusableEnvironment>(REUSABLE_ENVIRONMENT, {
    apiVersion: GROUP_VERSION,
    kind: REUSABLE_ENVIRONMENT.kind,
    metadata: {
      namespace: 'group-acme',
      name: reusableName(repository, label),
      labels: { [LABELS.managedBy]: MANAGED_BY },
    },
    spec: { repository, label },
    status,
  });
}

async function shopWithReusables() {
  const { api, token } = await TestApi.withShop();
  add(api, 'shop', 'seeded', published);
  add(api, 'shop', 'base', published);
  add(api, 'shop', 'never-published');
  add(api, 'other', 'theirs', published);
  return { api, token };
}

const labelsOf = (body: { reusableEnvironments: { label: string }[] }) =>
  body.reusableEnvironments.map(({ label }) => label);

test('lists the published reusable environments of a repository in the form of the contract', async () => {
  const { api, token } = await shopWithReusables();
  const answer = await request(api.app).get('/api/repository/acme.shop').set('x-service-token', token).expect(200);
  expect(answer.body).toMatchObject({
    reusableEnvironments: [
      { label: 'base' },
      { label: 'seeded', buildAt: '2025-12-31T23:00:00.000Z', from: { name: 'shop-main' } },
    ],
  });
});

test('deletes one by its label, and lists it no longer', async () => {
  const { api, token } = await shopWithReusables();
  const path = '/api/repository/acme.shop/reusable/seeded';
  await request(api.app)
    .delete(path)
    .set('x-service-token', token)
    .expect(202)
    .expect(({ body }) => expect(labelsOf(body as never)).toEqual(['base']));
  await request(api.app).delete(path).set('x-service-token', token).expect(404);
});

test.each(['never-published', 'theirs', 'none', '..', 'constructor'])('refuses to delete %s', async (label) => {
  const { api, token } = await shopWithReusables();
  await request(api.app)
    .delete(`/api/repository/acme.shop/reusable/${encodeURIComponent(label)}`)
    .set('x-service-token', token)
    .expect(404);
  expect(api.cluster.all(REUSABLE_ENVIRONMENT)).toHaveLength(4);
});

test('a caller who cannot see the repository gets the same response as for a missing one', async () => {
  const { api } = await shopWithReusables();
  const { token } = await api.login('mallory@example.com');
  const path = '/api/repository/acme.shop/reusable/seeded';
  await request(api.app).delete(path).set('x-service-token', token).expect(404);
});

test('stores which refs can publish which label', async () => {
  const { api, token } = await shopWithReusables();
  const path = '/api/repository/acme.shop/settings';
  const post = (reusable: unknown) => request(api.app).post(path).set('x-service-token', token).send({ reusable });
  const reusable = [{ label: 'seeded', refs: [{ name: 'main', type: 'branch' }] }];
  await post([{ label: 'seeded', refs: [{ name: 'main' }] }])
    .expect(200)
    .expect(({ body }) => expect(body).toMatchObject({ reusable }));
  await post([]).expect(200);
  for (const wrong of [
    [{ label: 'A b', refs: [{ name: 'main' }] }],
    [{ label: 'a', refs: [] }],
    [...reusable, ...reusable],
  ])
    await post(wrong).expect(422);
});
