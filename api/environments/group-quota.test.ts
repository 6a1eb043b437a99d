import { describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { TestApi } from '../testing/test-api.ts';

const activation = sampleActivation({ active: false, reason: 'DeleteRequest' });
const empty = { state: 'empty', activation } as const;
const full = { state: 'built', activation: { ...activation, active: true } } as const;
const going = { state: 'built', activation } as const;
const waiting = { state: 'empty', activation: { ...activation, active: true } } as const;
const held = { ...waiting, approval: { waitingCommit: 'c' } } as const;

/** Returns an API whose group acme has reached its limit of environments, with shop-a beside the empty shop-main. */
async function apiWith(
  status: typeof empty | typeof full | typeof going | typeof held | typeof waiting,
  own: object,
  max = 1,
) {
  const api = new TestApi({ maxEnvironmentsPerGroup: max });
  const { token } = await api.login('alice@example.com');
  api.addGroup('acme', ['alice@example.com'], own);
  api.addRepository('acme', 'shop');
  api.addRepository('acme', 'blog');
  api.addEnvironment('acme', 'blog-a', 'blog', status);
  api.addEnvironment('acme', 'shop-main', 'shop', empty);
  const gitRef = { name: 'new', type: 'branch' };
  const send = (what: 'spawn' | 'put' | 'rebuild') => {
    const path = '/api/environment/acme.shop-main';
    if (what === 'put') return request(api.app).put(path).set('x-service-token', token);
    if (what === 'rebuild') return request(api.app).post(`${path}/rebuild`).set('x-service-token', token);
    return request(api.app).post('/api/repository/acme.shop/spawn').set('x-service-token', token).send({ gitRef });
  };
  return { api, token, send };
}

describe.each(['spawn', 'put', 'rebuild'] as const)('%s', (what) => {
  test.each<[string, typeof empty | typeof full | typeof going | typeof held | typeof waiting, object, boolean]>([
    ['when no environment has contents', empty, {}, true],
    ['when the limit is reached', full, {}, false],
    ['when the contents of others are being deleted', going, {}, false],
    ['where another waits', waiting, {}, false],
    ['where a commit of a fork waits for an approval', held, {}, true],
    ['when the Group has a higher limit', full, { maxActiveEnvironments: 2 }, true],
    ['when the Group has the limit 0', empty, { maxActiveEnvironments: 0 }, false],
  ])('%s', async (_where, status, own, passes) => {
    const { api, send } = await apiWith(status, own);
    const before = api.cluster.all(ENVIRONMENT).length;
    const answer = await send(what);
    if (passes) expect(answer.status).toBeLessThan(300);
    else {
      expect(answer.status).toBe(409);
      expect((answer.body as { error: string }).error).toMatch(
        /^the group has \d active environments, and its limit is \d/,
      );
      expect([api.cluster.all(ENVIRONMENT).length, api.cluster.patches.length]).toEqual([before, 0]);
    }
  });
});

test('permits a rebuild of contents even at the limit', async () => {
  const { api, token } = await apiWith(full, {}, 1);
  api.addEnvironment('acme', 'shop-b', 'shop', full);
  const answer = await request(api.app).post('/api/environment/acme.shop-b/rebuild').set('x-service-token', token);
  expect(answer.status).toBe(202);
});
