import { beforeEach, expect, test } from '@jest/globals';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { TestApi } from '../testing/test-api.ts';
import { EnvironmentHosts } from './hosts.ts';

const alias = 'http://admin---shop-main--acme.env.localhost:8080/';
let api: TestApi;
let hosts: EnvironmentHosts;

beforeEach(() => {
  api = new TestApi();
  api.addGroup('acme', []);
  api.addRepository('acme', 'shop', { access: 'members' });
  api.addEnvironment('acme', 'shop-main', 'shop', { aliases: { admin: alias } });
  const webAddress = { scheme: 'http', domain: 'env.localhost', port: 8080 } as const;
  hosts = new EnvironmentHosts({ caches: api.caches, webAddress, defaultAccess: 'public' });
});

test.each(['shop-main--acme.env.localhost', 'admin---shop-main--acme.env.localhost'])(
  'finds the environment of %s',
  (host) => {
    expect(hosts.find(host)).toMatchObject({
      environment: { metadata: { name: 'shop-main' } },
      access: { mode: 'members' },
    });
  },
);

test.each([
  'other--acme.env.localhost',
  'other---shop-main--acme.env.localhost',
  'shop-main--acme.env.example',
  'a.shop-main--acme.env.localhost',
  'env.localhost',
  '.env.localhost',
  '',
])('finds nothing at %j', (host) => {
  expect(hosts.find(host)).toBeUndefined();
});

test('finds nothing that two environments claim, or that is being deleted', () => {
  api.addEnvironment('acme', 'other', 'shop', { aliases: { admin: alias } });
  expect(hosts.find('admin---shop-main--acme.env.localhost')).toBeUndefined();
  const at = { namespace: 'group-acme', name: 'shop-main' };
  api.cluster.change(ENVIRONMENT, at, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  expect(hosts.find('shop-main--acme.env.localhost')).toBeUndefined();
});

test('lets only members in without a Repository', () => {
  api.cluster.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { access: 'public' } });
  expect(hosts.find('shop-main--acme.env.localhost')?.access.mode).toBe('public');
  api.addEnvironment('acme', 'lost', 'missing');
  expect(hosts.find('lost--acme.env.localhost')?.access.mode).toBe('members');
});
