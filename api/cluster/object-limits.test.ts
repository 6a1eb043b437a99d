import { beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { groupSpecSchema } from '../../crds/group.ts';
import { TestApi } from '../testing/test-api.ts';
import { OBJECT_LIMITS } from './object-limits.ts';

let api: TestApi;
let token: string;

beforeEach(async () => {
  // The limit of environments per group is a separate one.
  ({ api, token } = await TestApi.withShop({ maxEnvironmentsPerGroup: 2 * OBJECT_LIMITS.environments }));
});

const post = (path: string, body: object) => request(api.app).post(path).set('x-service-token', token).send(body);
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const variable = (number: number) => ({ name: `V${number}`, value: '', visibility: 'always' as const });
const emails = (count: number) => [
  'alice@example.com',
  ...numbers(count - 1).map((number) => `u${number}@example.com`),
];

/** Each creates objects up to one below the limit. */
test.each([
  [
    'variables of a group',
    () =>
      api.addGroup('full', ['alice@example.com'], { variables: numbers(OBJECT_LIMITS.variables - 1).map(variable) }),
    (name: string) => post('/api/group/full/variables', { name, value: '1' }),
  ],
  [
    'variables of a repository',
    () => api.addRepository('acme', 'full', { variables: numbers(OBJECT_LIMITS.variables - 1).map(variable) }),
    (name: string) => post('/api/repository/acme.full/variables', { name, value: '1' }),
  ],
  [
    'members',
    () => api.addGroup('full', emails(OBJECT_LIMITS.members - 1)),
    (name: string) => post('/api/group/full/members', { name: `${name}@example.com` }),
  ],
  [
    'repositories',
    () => numbers(OBJECT_LIMITS.repositories - 2).map((number) => api.addRepository('acme', `r${number}`)),
    (name: string) => post('/api/group/acme', { name, type: 'generic', params: { origin: 'https://git.example/a' } }),
  ],
  [
    'environments',
    () => numbers(OBJECT_LIMITS.environments - 1).map((number) => api.addEnvironment('acme', `shop-${number}`, 'shop')),
    (name: string) => post('/api/repository/acme.shop/spawn', { gitRef: { name, type: 'branch' } }),
  ],
])('answers 409 with a message for one more of the %s than permitted', async (_name, fill, more) => {
  fill();
  await more('LAST').expect(201);
  const answer = await more('OVER').expect(409);
  expect(answer.body).toEqual({ error: expect.stringMatching(/ is the limit. Delete some$/) });
});

test('has the same limits as the CRDs', () => {
  expect(groupSpecSchema.safeParse({ members: emails(OBJECT_LIMITS.members) }).success).toBe(true);
  expect(groupSpecSchema.safeParse({ members: emails(OBJECT_LIMITS.members + 1) }).success).toBe(false);
  const variables = (count: number) => ({ members: [], variables: numbers(count).map(variable) });
  expect(groupSpecSchema.safeParse(variables(OBJECT_LIMITS.variables)).success).toBe(true);
  expect(groupSpecSchema.safeParse(variables(OBJECT_LIMITS.variables + 1)).success).toBe(false);
});
