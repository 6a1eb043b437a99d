import { GROUP_VERSION } from '../../crds/api-group.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { REUSABLE_ENVIRONMENT, reusableName, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import { TestApi } from './test-api.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export interface Route {
  method: Method;
  /** The path, with an ID in place of its parameter. */
  path: string;
  body?: object;
  status: number;
}

export const SPAWN_BODY = { gitRef: { name: 'feature', type: 'branch' } };
export const REPOSITORY_BODY = { name: 'Tools', type: 'generic', params: { origin: 'https://git.example/tools.git' } };

/** The commit of a fork that waits for an approval. */
const WAITING = 'a'.repeat(40);
const PROGRAM_BODY = { port: 4711, challenge: 'c'.repeat(43), state: 's'.repeat(16) };
const VISIT_BODY = { host: 'shop-main--acme.env.localhost', path: '/', challenge: 'c'.repeat(43) };
const apiToken = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', readOnly: false };

/** Every endpoint that needs a login, with a request that succeeds. */
export const ROUTES: Route[] = [
  { method: 'get', path: '/api/user/info', status: 200 },
  { method: 'get', path: '/api/groups', status: 200 },
  { method: 'post', path: '/api/groups', body: { name: 'New' }, status: 201 },
  { method: 'get', path: '/api/group/acme', status: 200 },
  { method: 'post', path: '/api/group/acme', body: REPOSITORY_BODY, status: 201 },
  { method: 'delete', path: '/api/group/acme', status: 202 },
  { method: 'get', path: '/api/group/acme/settings', status: 200 },
  { method: 'post', path: '/api/group/acme/variables', body: { name: 'NEW', value: '1' }, status: 201 },
  { method: 'patch', path: '/api/group/acme/variables', body: { name: 'OLD', value: '1' }, status: 200 },
  { method: 'delete', path: '/api/group/acme/variables/OLD', status: 200 },
  { method: 'post', path: '/api/group/acme/members', body: { name: 'bob@example.com' }, status: 201 },
  { method: 'delete', path: '/api/group/acme/members/carol@example.com', status: 200 },
  {
    method: 'patch',
    path: '/api/group/acme/members/carol@example.com',
    body: { role: 'owner' },
    status: 200,
  },
  { method: 'post', path: '/api/group/acme/leave', status: 200 },
  { method: 'get', path: '/api/overview', status: 200 },
  { method: 'get', path: '/api/search?text=shop', status: 200 },
  { method: 'get', path: '/api/repository/acme.shop', status: 200 },
  { method: 'get', path: '/api/repository/acme.shop/environments', status: 200 },
  { method: 'post', path: '/api/repository/acme.shop', body: { name: 'The shop' }, status: 200 },
  { method: 'delete', path: '/api/repository/acme.shop', status: 202 },
  { method: 'get', path: '/api/repository/acme.shop/settings', status: 200 },
  { method: 'post', path: '/api/repository/acme.shop/settings', body: { environmentTTL: '60' }, status: 200 },
  { method: 'post', path: '/api/repository/acme.shop/variables', body: { name: 'NEW', value: '1' }, status: 201 },
  { method: 'patch', path: '/api/repository/acme.shop/variables', body: { name: 'OLD', value: '1' }, status: 200 },
  { method: 'delete', path: '/api/repository/acme.shop/variables/OLD', status: 200 },
  { method: 'post', path: '/api/repository/acme.shop/check', body: { serviceFile: 'YTogYg==' }, status: 200 },
  { method: 'get', path: '/api/repository/acme.shop/rules', status: 200 },
  { method: 'post', path: '/api/repository/acme.shop/rules/check', body: { rules: [] }, status: 200 },
  { method: 'post', path: '/api/repository/acme.shop/spawn', body: SPAWN_BODY, status: 201 },
  { method: 'post', path: '/api/repository/acme.shop/sync', status: 202 },
  { method: 'get', path: '/api/environment/acme.shop-main', status: 200 },
  { method: 'put', path: '/api/environment/acme.shop-empty', status: 202 },
  { method: 'delete', path: '/api/environment/acme.shop-main', status: 202 },
  { method: 'post', path: '/api/environment/acme.shop-main/build', status: 202 },
  { method: 'post', path: '/api/environment/acme.shop-main/rebuild', status: 202 },
  { method: 'get', path: '/api/environment/acme.shop-main/builds', status: 200 },
  { method: 'get', path: '/api/environment/acme.shop-main/events', status: 200 },
  { method: 'get', path: '/api/environment/acme.shop-main/variables', status: 200 },
  { method: 'get', path: '/api/environment/acme.shop-main/usage', status: 200 },
  { method: 'get', path: '/api/group/acme/usage', status: 200 },
  { method: 'get', path: '/api/environment/acme.shop-main/overrides', status: 200 },
  { method: 'post', path: '/api/environment/acme.shop-main/overrides', body: { serviceFile: 'eC1hOiBi' }, status: 200 },
  { method: 'delete', path: '/api/environment/acme.shop-main/overrides', status: 200 },
  {
    method: 'post',
    path: '/api/environment/acme.shop-main/overrides/variables',
    body: { name: 'NEW', value: '1' },
    status: 201,
  },
  {
    method: 'patch',
    path: '/api/environment/acme.shop-main/overrides/variables',
    body: { name: 'OLD', value: '1' },
    status: 200,
  },
  { method: 'delete', path: '/api/environment/acme.shop-main/overrides/variables/OLD', status: 200 },
  // No build has been requested.
  { method: 'get', path: '/api/environment/acme.shop-main/build', status: 404 },
  { method: 'get', path: '/api/environment/acme.shop-main/build/1', status: 404 },
  { method: 'post', path: '/api/environment/acme.shop-main/ttl', body: { ttl: 60 }, status: 200 },
  { method: 'post', path: '/api/environment/acme.shop-main/approve', body: { commit: WAITING }, status: 202 },
  { method: 'post', path: '/api/environment/acme.shop-main/access', body: { access: 'members' }, status: 200 },
  // It has no web address.
  { method: 'post', path: '/api/environment/acme.shop-main/share', status: 409 },
  { method: 'post', path: '/api/environment/acme.shop-main/share/end', body: { all: true }, status: 200 },
  { method: 'post', path: '/api/access/login', body: VISIT_BODY, status: 200 },
  // Nothing is deployed.
  { method: 'post', path: '/api/environment/acme.shop-main/sleep', status: 409 },
  { method: 'post', path: '/api/environment/acme.shop-main/wake', status: 409 },
  { method: 'post', path: '/api/environment/acme.shop-main/settings', body: { sleep: {} }, status: 200 },
  { method: 'get', path: '/api/environment/acme.shop-main/tests', status: 200 },
  // Nothing is deployed.
  { method: 'post', path: '/api/environment/acme.shop-main/tests', status: 409 },
  // No build has started, so there is no log. Logs are text, which log-text.test.ts verifies.
  { method: 'get', path: '/api/environment/acme.shop-main/build/logs', status: 404 },
  // The environment has no service.
  { method: 'get', path: '/api/environment/acme.shop-main/services/web/logs', status: 404 },
  // This installation has no shells, which shell/routes.test.ts verifies.
  { method: 'get', path: '/api/environment/acme.shop-main/services/web/exec', status: 403 },
  { method: 'get', path: '/api/environment/acme.shop-main/services/web/port-forward?port=80', status: 403 },
  { method: 'delete', path: '/api/repository/acme.shop/reusable/base', status: 202 },
  { method: 'post', path: '/api/user/tokens', body: apiToken, status: 201 },
  // The user has no token of this name.
  { method: 'delete', path: '/api/user/tokens', body: { name: 'none' }, status: 404 },
  { method: 'get', path: '/api/user/sessions', status: 200 },
  // The account has no session of this id.
  { method: 'delete', path: '/api/user/sessions/none', status: 404 },
  { method: 'get', path: '/api/users', status: 200 },
  { method: 'post', path: '/api/users', body: { email: 'dan@example.com' }, status: 201 },
  { method: 'delete', path: '/api/users/carol@example.com', status: 200 },
  // No device waits with this code.
  { method: 'post', path: '/api/user/device/check', body: { userCode: 'BCDF-GHJK' }, status: 404 },
  { method: 'post', path: '/api/user/device/decision', body: { userCode: 'BCDF-GHJK', approve: true }, status: 404 },
  { method: 'post', path: '/api/user/authorizations', body: PROGRAM_BODY, status: 200 },
  { method: 'post', path: '/api/user/logout', status: 200 },
];

/** Endpoints other than reads that the access `operate` permits; all others need `administer`. */
export const OPERATED = [
  'post /api/repository/acme.shop/spawn',
  'post /api/repository/acme.shop/sync',
  'put /api/environment/acme.shop-empty',
  'delete /api/environment/acme.shop-main',
  'post /api/environment/acme.shop-main/build',
  'post /api/environment/acme.shop-main/rebuild',
  'post /api/environment/acme.shop-main/ttl',
  'post /api/environment/acme.shop-main/approve',
  'post /api/environment/acme.shop-main/sleep',
  'post /api/environment/acme.shop-main/wake',
  'post /api/environment/acme.shop-main/tests',
  'post /api/environment/acme.shop-main/share',
  'post /api/environment/acme.shop-main/share/end',
  'delete /api/repository/acme.shop/reusable/base',
];

/** Endpoints other than GET that change nothing, or only the caller's own token. */
export const HARMLESS = [
  'post /api/user/logout',
  'post /api/repository/acme.shop/check',
  'post /api/repository/acme.shop/rules/check',
];

/** Endpoints that no API token can use, whatever its access. */
export const BY_LOGIN = [
  'get /api/user/sessions',
  'delete /api/user/sessions/none',
  'post /api/user/device/check',
  'post /api/user/device/decision',
  'post /api/user/authorizations',
  'post /api/access/login',
  'post /api/user/tokens',
  'post /api/users',
  'delete /api/users/carol@example.com',
];

/** Endpoints that a token restricted to groups or repositories cannot use. */
export const OF_ACCOUNT = ['post /api/groups', 'delete /api/user/tokens', 'get /api/users'];

/**
 * Returns an API with everything that the routes name: alice, an administrator, sees it, except the group rival. Carol is
 * another member of the group acme.
 */
export async function everyRouteApi(
  config: ConstructorParameters<typeof TestApi>[0] = {},
): Promise<{ api: TestApi; token: string; memberToken: string }> {
  const api = new TestApi({ administrators: ['alice@example.com'], ...config });
  const { token } = await api.login('alice@example.com');
  await api.login('mallory@example.com');
  const { token: memberToken } = await api.login('carol@example.com');
  const valueFrom = { secretKeyRef: { name: 'values', key: 'old' } };
  const variables = [{ name: 'OLD', valueFrom, visibility: 'always' as const }];
  api.addGroup('acme', ['alice@example.com', 'carol@example.com'], { variables });
  api.addRepository('acme', 'shop', { variables });
  const activation = { active: true, since: '2026-01-01T00:00:00Z', specActive: true, buildPending: false } as const;
  const built = { state: 'built', activation: { ...activation, reason: 'Spec' } } as const;
  const waiting = { ...built, approval: { waitingCommit: WAITING } };
  api.addEnvironment('acme', 'shop-main', 'shop', waiting, { overrides: { variables } });
  api.addEnvironment('acme', 'shop-empty', 'shop', { state: 'empty' });
  api.addGroup('rival', ['mallory@example.com']);
  api.addRepository('rival', 'shop');
  api.addEnvironment('rival', 'shop-main', 'shop', { state: 'built' });
  for (const group of ['acme', 'rival']) addReusable(api, group);
  return { api, token, memberToken };
}

function addReusable({ cluster }: TestApi, group: string): void {
  const gitRef = { name: 'main', type: 'branch' } as const;
  cluster.add<ReusableEnvironment>(REUSABLE_ENVIRONMENT, {
    apiVersion: GROUP_VERSION,
    kind: REUSABLE_ENVIRONMENT.kind,
    metadata: {
      namespace: `group-${group}`,
      name: reusableName('shop', 'base'),
      labels: { [LABELS.managedBy]: MANAGED_BY },
    },
    spec: { repository: 'shop', label: 'base' },
    status: {
      builtAt: '2026-01-01T00:00:00Z',
      publication: 'p',
      from: { environment: 'shop-main', environmentUID: 'u', gitRef, build: 1 },
    },
  });
}
