import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';

/** A service file is checked in a thread, which is slow to start on a busy machine. */
jest.setTimeout(60_000);

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

const send = (method: 'get' | 'post' | 'delete', rest: string, body?: object) =>
  request(api.app)[method](`/api/repository/acme.shop${rest}`).set('x-service-token', token).send(body);
const repository = () => api.cluster.all<Repository>(REPOSITORY)[0];

const at = { namespace: 'group-acme', name: 'shop' };

const defaults = {
  variables: [],
  sshPublicKey: '',
  scheduledRebuild: { mode: 'disabled', hour: '', timeZone: 'UTC' },
  serviceFile: { mode: 'repo', serviceFile: '' },
  sync: { newestTags: 10 },
  autoBuild: true,
  onRefGone: 'delete',
  forks: {},
  sleep: {},
};

test('returns defaults if no settings were made', async () => {
  expect((await send('get', '/settings').expect(200)).body).toEqual(defaults);
});

describe('the webhook and the SSH key for the Git host', () => {
  const url = 'http://coppice.localhost:8080/api/webhooks/generic/acme.shop';
  const addSecret = (uid: string | undefined) =>
    api.cluster.add(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: 'group-acme',
        name: 'webhook-shop',
        ownerReferences: [{ apiVersion: 'v', kind: 'Repository', name: 'shop', uid: uid ?? '' }],
      },
      data: { secret: Buffer.from('s3cret').toString('base64') },
    });
  const setStatus = (id?: string) => {
    const webhook = { url, secretName: 'webhook-shop', ...(id !== undefined && { id }) };
    const status = { sshPublicKey: 'ssh-ed25519 AAAA', webhook };
    api.cluster.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { status });
  };

  test.each([
    [undefined, false],
    ['17', true],
  ])('are returned with the ID %s at the host', async (id, created) => {
    addSecret(repository()?.metadata.uid);
    setStatus(id);
    expect((await send('get', '/settings').expect(200)).body).toEqual({
      ...defaults,
      sshPublicKey: 'ssh-ed25519 AAAA',
      webhook: { url, secret: 's3cret', created },
    });
  });

  test.each([
    ['readOnly', { readOnly: true }, false],
    ['the access read', { scopes: { access: 'read' } }, false],
    ['the access operate', { scopes: { access: 'operate' } }, false],
    ['the access administer', { scopes: { access: 'administer' } }, true],
  ])('with a token with %s are returned only to those who can change the settings', async (_what, made, shown) => {
    addSecret(repository()?.metadata.uid);
    setStatus();
    const body = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', ...made };
    const created = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body);
    ({ token } = created.body as { token: string });
    const answer = await send('get', '/settings').expect(200);
    const withheld = { url, secret: '', withheld: true, created: false };
    expect(answer.body).toMatchObject({ webhook: shown ? { secret: 's3cret' } : withheld });
    expect(answer.text.includes('s3cret')).toBe(shown);
  });

  test('are not read from a Secret of another repository', async () => {
    addSecret('uid-of-another');
    setStatus();
    const answer = await send('get', '/settings').expect(200);
    expect(answer.body).not.toHaveProperty('webhook');
  });
});

test('accepts the settings that it returned, and removes the hour if it is empty', async () => {
  await send('post', '/settings', { scheduledRebuild: defaults.scheduledRebuild }).expect(200);
  await send('post', '/settings', { scheduledRebuild: { mode: 'all', hour: '03:30' } }).expect(200);
  const answer = await send('post', '/settings', { scheduledRebuild: defaults.scheduledRebuild }).expect(200);
  expect(answer.body).toEqual(defaults);
});

test('changes sync, autoBuild and onRefGone one by one, and null resets the interval', async () => {
  const changes = [{ sync: { intervalSeconds: '60' } }, { sync: { newestTags: 3 } }, { autoBuild: 'false' }];
  for (const change of [...changes, { onRefGone: 'keep' }]) await send('post', '/settings', change).expect(200);
  const changed = { sync: { intervalSeconds: 60, newestTags: 3 }, autoBuild: false, onRefGone: 'keep' };
  expect((await send('get', '/settings').expect(200)).body).toEqual({ ...defaults, ...changed });
  expect(repository()?.spec).toMatchObject(changed);
  const answer = await send('post', '/settings', { sync: { intervalSeconds: null } }).expect(200);
  expect(answer.body).toEqual({ ...defaults, ...changed, sync: { newestTags: 3 } });
});

test('changes whether forks can include the repository, without their approval', async () => {
  await send('post', '/settings', { forks: { approval: 'required' } }).expect(200);
  const answer = await send('post', '/settings', { forks: { canInclude: true } }).expect(200);
  expect(answer.body).toMatchObject({ forks: { approval: 'required', canInclude: true } });
  const withdrawn = await send('post', '/settings', { forks: { canInclude: false } }).expect(200);
  expect(withdrawn.body).toMatchObject({ forks: { approval: 'required' } });
});

test.each<[object, string]>([
  [{ sync: { intervalSeconds: 9 } }, 'sync.intervalSeconds'],
  [{ sync: { intervalSeconds: 604_801 } }, 'sync.intervalSeconds'],
  [{ sync: { newestTags: 101 } }, 'sync.newestTags'],
  [{ autoBuild: 'maybe' }, 'autoBuild'],
  [{ onRefGone: 'archive' }, 'onRefGone'],
  [{ forks: { approval: 'maybe' } }, 'forks.approval'],
  [{ forks: { canInclude: 'maybe' } }, 'forks.canInclude'],
  [{}, ''],
])('refuses the settings %j', async (body, path) => {
  const answer = await send('post', '/settings', body).expect(422);
  expect(answer.body).toMatchObject({ details: [{ path }] });
});

describe('the service file of the settings', () => {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const set = (text: string) => send('post', '/settings', { serviceFile: { serviceFile: encoded(text) } });
  const secrets = () =>
    api.cluster.all<Secret>(Secret).filter(({ metadata: { name } }) => name.startsWith('service-file-shop-'));
  const kept = () => secrets().flatMap(({ data }) => Object.values(data ?? {}));
  const shown = async () =>
    ((await send('get', '/settings')).body as { serviceFile: { serviceFile: string } }).serviceFile.serviceFile;

  test('is stored in a Secret of the Repository, so that writes of the Repository do not rewrite it', async () => {
    const large = `# ${'ä'.repeat(131_000)}`;
    await set(large).expect(200);
    expect(JSON.stringify(repository()).length).toBeLessThan(2000);
    expect(secrets()).toMatchObject([{ metadata: { ownerReferences: [{ kind: 'Repository', name: 'shop' }] } }]);
    expect(await shown()).toBe(encoded(large));
    const version = secrets()[0]?.metadata.resourceVersion;
    await send('post', '/sync').expect(202);
    await set(large).expect(200);
    expect(secrets()[0]?.metadata.resourceVersion).toBe(version);
  });

  test('is replaced and removed', async () => {
    await set('a: 1').expect(200);
    await set('a: 2').expect(200);
    expect(kept()).toEqual([encoded('a: 2')]);
    await set('').expect(200);
    expect(kept()).toEqual([]);
    expect(await shown()).toBe('');
    expect(repository()?.spec.serviceFile).toEqual({});
  });

  test('is one of those written concurrently', async () => {
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => set(`${name}: 1`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(kept()).toEqual([await shown()]);
  });

  test('replaces the one that kubectl applied', async () => {
    api.cluster.change(REPOSITORY, at, { spec: { serviceFile: { mode: 'both', content: 'b: 1' } } });
    expect(await shown()).toBe(encoded('b: 1'));
    await set('a: 1').expect(200);
    expect(repository()?.spec.serviceFile).toMatchObject({ mode: 'both', contentFrom: {} });
    expect(repository()?.spec.serviceFile).not.toHaveProperty('content');
  });

  test('is not read from a Secret that the Repository does not own', async () => {
    const data = { password: Buffer.from('hunter2').toString('base64') };
    const metadata = { namespace: 'group-acme', name: 'vault' };
    api.cluster.add(Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data });
    const contentFrom = { secretKeyRef: { name: 'vault', key: 'password' } };
    api.cluster.change(REPOSITORY, at, { spec: { serviceFile: { mode: 'both', contentFrom } } });
    expect(await shown()).toBe('');
  });
});

test('changes the sent settings, and keeps all others', async () => {
  const serviceFile = Buffer.from('services: {ä: {image: b}}\n').toString('base64');
  await send('post', '/settings', { environmentTTL: '3600', serviceFile: { serviceFile } }).expect(200);
  await send('post', '/settings', { scheduledRebuild: { mode: 'notclones', hour: '03:30' } }).expect(200);
  await send('post', '/settings', { scheduledRebuild: { timeZone: 'Europe/Berlin' } }).expect(200);
  const answer = await send('post', '/settings', { serviceFile: { mode: 'both' } }).expect(200);
  expect(answer.body).toEqual({
    ...defaults,
    environmentTTL: 3600,
    scheduledRebuild: { mode: 'notclones', hour: '03:30', timeZone: 'Europe/Berlin' },
    serviceFile: { mode: 'both', serviceFile },
  });
  expect(repository()?.spec).toMatchObject({
    type: 'generic',
    environmentTTLSeconds: 3600,
    serviceFile: { mode: 'both', contentFrom: { secretKeyRef: { key: expect.stringMatching(/^content\.\w+\.27$/) } } },
  });
  const ended = await send('post', '/settings', { environmentTTL: 0 }).expect(200);
  expect(ended.body).not.toHaveProperty('environmentTTL');
});

test.each([
  ['', 'environmentTTL'],
  ['-1', 'environmentTTL'],
  [null, 'environmentTTL'],
])('answers 422 to an environmentTTL of %j', async (environmentTTL, path) => {
  const answer = await send('post', '/settings', { environmentTTL }).expect(422);
  expect(answer.body).toMatchObject({ details: [{ path }] });
});

test('refuses a scheduled rebuild without an hour, also when the hour is removed', async () => {
  const details = [{ path: 'scheduledRebuild.hour', message: 'hour is required unless mode is disabled' }];
  const withoutHour = await send('post', '/settings', { scheduledRebuild: { mode: 'all' } }).expect(422);
  expect(withoutHour.body).toMatchObject({ details });
  await send('post', '/settings', { scheduledRebuild: { hour: '03:30' } }).expect(200);
  await send('post', '/settings', { scheduledRebuild: { mode: 'all' } }).expect(200);
  const taken = await send('post', '/settings', { scheduledRebuild: { hour: '' } }).expect(422);
  expect(taken.body).toMatchObject({ details });
  await send('post', '/settings', { scheduledRebuild: { mode: 'disabled', hour: '' } }).expect(200);
});

test('answers 422 to a service file over the limit', async () => {
  const serviceFile = Buffer.from('a'.repeat(131_073)).toString('base64');
  await send('post', '/settings', { serviceFile: { serviceFile } }).expect(422);
});

test('changes the display name, and keeps the ID', async () => {
  const answer = await send('post', '', { name: ' The Shop ' }).expect(200);
  expect(answer.body).toMatchObject({ id: 'acme.shop', name: 'The Shop' });
  expect((await send('get', '').expect(200)).body).toMatchObject({ id: 'acme.shop', name: 'The Shop' });
});

test('requests the deletion from the cluster', async () => {
  expect((await send('delete', '').expect(202)).body).toMatchObject({ id: 'acme.shop' });
  expect(repository()).toBeUndefined();
});

describe('a service file that is not YAML', () => {
  const broken = Buffer.from('a: [').toString('base64');

  test.each(['panel', 'both'])(
    'is refused with 422 and its position if it is used (%s), and nothing changes',
    async (mode) => {
      const answer = await send('post', '/settings', { serviceFile: { mode, serviceFile: broken } }).expect(422);
      expect(answer.body).toMatchObject({
        details: [
          {
            path: 'serviceFile.serviceFile',
            message: expect.stringMatching(/^settings:1:\d+: not valid YAML/),
          },
        ],
      });
      expect(repository()?.spec.serviceFile).toBeUndefined();
    },
  );

  test('is accepted until a mode uses it', async () => {
    await send('post', '/settings', { serviceFile: { serviceFile: broken } }).expect(200);
    await send('post', '/settings', { serviceFile: { mode: 'panel' } }).expect(422);
    await send('post', '/settings', { environmentTTL: 1 }).expect(200);
  });

  test('is accepted if it names files of the repository', async () => {
    const serviceFile = Buffer.from('services: {a: {image: b, env_file: a.env}}').toString('base64');
    await send('post', '/settings', { serviceFile: { mode: 'panel', serviceFile } }).expect(200);
  });
});

describe('an empty service file', () => {
  const of = (text: string) => Buffer.from(text).toString('base64');

  test.each([
    ['sent', { mode: 'panel', serviceFile: '' }],
    ['sent as white space', { mode: 'panel', serviceFile: of(' \n') }],
    ['stored', { mode: 'panel' }],
  ])('is refused as the only one: %s', async (_what, serviceFile) => {
    const answer = await send('post', '/settings', { serviceFile }).expect(422);
    expect(answer.body).toMatchObject({
      error: 'the service file is empty',
      details: [{ path: 'serviceFile.serviceFile', message: expect.stringContaining('must not be empty') }],
    });
    expect(repository()?.spec.serviceFile).toBeUndefined();
  });

  test('is refused in place of the only one', async () => {
    await send('post', '/settings', { serviceFile: { mode: 'panel', serviceFile: of('services: {}') } }).expect(200);
    await send('post', '/settings', { serviceFile: { serviceFile: '' } }).expect(422);
    await send('post', '/settings', { serviceFile: { mode: 'repo', serviceFile: '' } }).expect(200);
  });

  test("is accepted beside the repository's", async () => {
    await send('post', '/settings', { serviceFile: { mode: 'both', serviceFile: '' } }).expect(200);
  });
});
