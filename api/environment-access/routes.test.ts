import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import { TestApi } from '../testing/test-api.ts';

const host = 'shop-main--acme.env.localhost';
const visit = { host, path: '/a?b=1', challenge: 'c'.repeat(43) };
const at = { namespace: 'group-acme', name: 'shop-main' };

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
  api.addEnvironment('acme', 'shop-main', 'shop', { webURL: `http://${host}:8080/`, state: 'built' });
});

const send = (path: string, body: object, as = token) =>
  request(api.app).post(path).set('x-service-token', as).send(body);
const setAccess = (access: string) => api.cluster.change(REPOSITORY, { ...at, name: 'shop' }, { spec: { access } });
const environment = () => api.cluster.all<Environment>(ENVIRONMENT)[0];
const redirectOf = (answer: { body: unknown }) => new URL((answer.body as { redirect: string }).redirect);

async function member(email: string) {
  const spec = { members: ['alice@example.com', email], owners: ['alice@example.com'] };
  api.cluster.change(GROUP, { name: 'acme' }, { spec });
  return (await api.login(email)).token;
}

describe('a member', () => {
  test('returns to the environment with a code', async () => {
    setAccess('members');
    const url = redirectOf(await send('/api/access/login', visit).expect(200));
    expect(`${url.origin}${url.pathname}`).toBe(`http://${host}:8080/.coppice/access`);
    expect([...url.searchParams.keys()]).toEqual(['code']);
    expect([...api.redis.entries.values()].map(({ value }) => value).join()).not.toContain(token);
  });

  test('needs no code for a public environment', async () => {
    expect(redirectOf(await send('/api/access/login', visit).expect(200)).href).toBe(`http://${host}:8080/a?b=1`);
  });

  test('of another group is answered as if there were no environment', async () => {
    setAccess('members');
    const { token: stranger } = await api.login('mallory@example.com');
    const refused = await send('/api/access/login', visit, stranger).expect(404);
    const unknown = await send('/api/access/login', { ...visit, host: 'no--acme.env.localhost' }, stranger).expect(404);
    expect(refused.body).toEqual(unknown.body);
  });

  test.each([
    ['another site', { path: '//evil.example/' }],
    ['another site with a backslash', { path: '/\\evil.example' }],
    ['a header', { path: '/a\r\nLocation: x' }],
    ['a code', { path: '/.coppice/access?code=x' }],
    ['no challenge', { challenge: '' }],
  ])('is refused with %s', async (_what, more) => {
    await send('/api/access/login', { ...visit, ...more }).expect(422);
  });

  test('with a cookie is refused on behalf of another site', async () => {
    const cross = { cookie: `token=${token}`, origin: `http://${host}:8080` };
    await request(api.app).post('/api/access/login').set(cross).send(visit).expect(403);
  });
});

describe('a password', () => {
  const enter = (password: string, more: object = {}) =>
    request(api.app)
      .post('/api/access/password')
      .send({ ...visit, password, ...more });

  test('is stored as a hash in a Secret of the environment, and opens it', async () => {
    const body = { access: 'password', accessPassword: 'correct horse' };
    const answer = await send('/api/environment/acme.shop-main/access', body).expect(200);
    expect(answer.body).toMatchObject({ ownAccess: 'password', hasAccessPassword: true });
    expect(JSON.stringify(answer.body)).not.toContain('scrypt');
    const { name = '', key = '' } = environment()?.spec.accessPassword?.secretKeyRef ?? {};
    const secret = api.cluster.all<Secret>(Secret).find(({ metadata }) => metadata.name === name);
    expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: 'Environment', name: 'shop-main' }]);
    expect(secretText(secret, key)).toMatch(/^\$scrypt\$ln=15,/);
    expect(redirectOf(await enter('correct horse').expect(200)).pathname).toBe('/.coppice/access');
    await enter('wrong horse').expect(401);
  });

  test('in plain text in a Secret opens environments of the repository', async () => {
    api.cluster.add(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'group-acme', name: 'visitors' },
      data: { password: Buffer.from('open sesame\n').toString('base64') },
    });
    const spec = { access: 'password', accessPassword: { secretKeyRef: { name: 'visitors', key: 'password' } } };
    api.cluster.change(REPOSITORY, { ...at, name: 'shop' }, { spec });
    await enter('open sesame').expect(200);
    await enter('open').expect(401);
  });

  test.each([
    ['of another Repository', { ownerReferences: [{ apiVersion: 'v', kind: 'Repository', name: 'other', uid: 'u' }] }],
    [
      'that Coppice reserves',
      { name: 'ssh-shop', ownerReferences: [{ apiVersion: 'v', kind: 'Group', name: 'a', uid: 'u' }] },
    ],
  ])('is not read from a Secret %s', async (_what, metadata) => {
    const name = 'name' in metadata ? metadata.name : 'theirs';
    api.cluster.add(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'group-acme', name, ...metadata },
      data: { password: Buffer.from('open sesame').toString('base64') },
    });
    const spec = { access: 'password', accessPassword: { secretKeyRef: { name, key: 'password' } } };
    api.cluster.change(REPOSITORY, { ...at, name: 'shop' }, { spec });
    await enter('open sesame').expect(401);
  });

  test('does not reveal which environments have one', async () => {
    setAccess('members');
    const [none, unknown] = await Promise.all([enter('x'), enter('x', { host: 'no--acme.env.localhost' })]);
    expect([none.status, none.body]).toEqual([unknown.status, unknown.body]);
    expect(none.status).toBe(401);
  });

  test('can be tried from any number of addresses only so often', async () => {
    const limits = { loginsPerMinute: 2, requestsPerMinute: 1000 };
    ({ api, token } = await TestApi.withShop({ limits, trustedProxies: 1 }));
    const from = (address: number) =>
      request(api.app)
        .post('/api/access/password')
        .set('x-forwarded-for', `192.0.2.${address}`)
        .send({ ...visit, password: 'x' });
    for (let address = 1; address <= 20; address++) await from(address).expect(401);
    await from(21).expect(429);
  });
});

describe('who can open environments', () => {
  test.each(['/api/environment/acme.shop-main/access', '/api/repository/acme.shop/settings'])(
    'is changed only by owners: %s',
    async (path) => {
      const bob = await member('bob@example.com');
      await send(path, { access: 'public' }, bob).expect(403);
      await send(path, { access: 'members' }).expect(200);
      const kind = path.includes('environment') ? ENVIRONMENT : REPOSITORY;
      expect(api.cluster.all<Repository | Environment>(kind)[0]?.spec.access).toBe('members');
    },
  );

  test('is refused before the request is read', async () => {
    const path = '/api/environment/acme.shop-main/access';
    const { token: stranger } = await api.login('stranger@example.com');
    await send(path, { access: 'nobody' }, stranger).expect(404);
    await send(path, { access: 'nobody' }, await member('bob@example.com')).expect(403);
    await send(path, { access: 'nobody' }).expect(422);
  });

  test('needs a password if it is by password', async () => {
    for (const path of ['/api/environment/acme.shop-main/access', '/api/repository/acme.shop/settings']) {
      await send(path, { access: 'password' }).expect(422);
      await send(path, { access: 'password', accessPassword: 'short' }).expect(422);
    }
  });

  test('returns to the default', async () => {
    await send('/api/environment/acme.shop-main/access', { access: 'members' }).expect(200);
    const answer = await send('/api/environment/acme.shop-main/access', { access: null }).expect(200);
    expect(answer.body).not.toHaveProperty('ownAccess');
    expect(environment()?.spec.access).toBeUndefined();
  });

  test('applies to further environments of the ref, but not to other refs', async () => {
    await send('/api/environment/acme.shop-main/access', { access: 'members' }).expect(200);
    for (const name of ['main', 'other']) {
      await send('/api/repository/acme.shop/spawn', { gitRef: { name, type: 'branch' } }).expect(201);
    }
    const spawned = api.cluster.all<Environment>(ENVIRONMENT).slice(1);
    expect(spawned.map(({ spec }) => [spec.gitRef.name, spec.access])).toEqual([
      ['main', 'members'],
      ['other', undefined],
    ]);
  });

  test('changes together with other settings', async () => {
    const body = { access: 'password', accessPassword: 'correct horse', environmentTTL: 60 };
    const answer = await send('/api/repository/acme.shop/settings', body).expect(200);
    expect(answer.body).toMatchObject({ access: 'password', hasAccessPassword: true, environmentTTL: 60 });
  });
});

describe('a link', () => {
  const share = (body: object = {}, as = token) => send('/api/environment/acme.shop-main/share', body, as);

  test('opens a page for a time', async () => {
    setAccess('members');
    const answer = await share({ seconds: 3600, path: '/welcome' }).expect(200);
    const { url, header, expiresAt } = answer.body as { url: string; header: string; expiresAt: number };
    const parsed = new URL(url);
    expect(`${parsed.origin}${parsed.pathname}`).toBe(`http://${host}:8080/.coppice/access`);
    expect(parsed.searchParams.get('path')).toBe('/welcome');
    expect([header, expiresAt]).toEqual(['x-coppice-environment-access', api.now / 1000 + 3600]);
  });

  test('ends with the API token that made it, not with a later one of its name', async () => {
    setAccess('members');
    const body = { name: 'ci', expirationTime: new Date(api.now + 600_000).toISOString() };
    const made = await send('/api/user/tokens', body).expect(201);
    const answer = await share({ seconds: 3600 }, (made.body as { token: string }).token).expect(200);
    expect(answer.body).toMatchObject({ expiresAt: api.now / 1000 + 600 });
  });

  test.each([
    ['too short', { seconds: 59 }],
    ['longer than keys are kept', { seconds: 31 * 24 * 3600 }],
    ['to another site', { path: '//evil.example' }],
  ])('is refused if it is %s', async (_what, body) => {
    setAccess('members');
    await share(body).expect(422);
  });

  test('is not made for a public environment', async () => {
    expect((await share().expect(409)).body).toMatchObject({ error: expect.stringContaining(`http://${host}:8080/`) });
  });

  describe('that is ended', () => {
    const end = (body: object, as = token) => send('/api/environment/acme.shop-main/share/end', body, as);
    interface Shared {
      url: string;
      token: string;
      id: string;
    }
    const shared = async (as = token) => (await share({ seconds: 3600 }, as).expect(200)).body as Shared;
    const ended = () => environment()?.spec.endedLinks;
    beforeEach(() => setAccess('members'));

    test('is named by its address, its token or its ID, and listed until it would end', async () => {
      for (const what of ['url', 'token', 'id'] as const) await end({ link: (await shared())[what] }).expect(200);
      const until = ended()?.links?.map((one) => Date.parse(one.until) - api.now);
      expect(until).toEqual([3600_000, 3600_000, 30 * 24 * 3600_000]);
    });

    test('by its maker, who is not an owner, leaves those of others', async () => {
      const bob = await member('bob@example.com');
      const [own, other] = [await shared(bob), await shared()];
      await end({ link: other.url }, bob).expect(403);
      await end({ link: other.id }, bob).expect(403);
      await end({ link: own.id }, bob).expect(403);
      await end({ link: 'x' }, bob).expect(403);
      await end({ all: true }, bob).expect(403);
      await end({ link: own.url }, bob).expect(200);
      expect(ended()?.links?.map(({ id }) => id)).toEqual([own.id]);
      await end({ link: own.url }).expect(200);
      expect(ended()?.links).toHaveLength(1);
    });

    test('with all others leaves later ones', async () => {
      await end({ link: (await shared()).id }).expect(200);
      await end({ all: true }).expect(200);
      expect(ended()).toEqual({ before: new Date(api.now).toISOString() });
      await end({ link: (await shared()).url }).expect(200);
      expect(ended()?.links).toHaveLength(1);
    });

    test('is not one of another environment, or none', async () => {
      const { token: link } = await shared();
      api.addEnvironment('acme', 'shop-other', 'shop', { webURL: 'http://other.env.localhost:8080/', state: 'built' });
      await send('/api/environment/acme.shop-other/share/end', { link }).expect(422);
      await end({ link: 'https://example.com/' }).expect(422);
      await end({}).expect(422);
      await end({ link, all: true }).expect(422);
      const { token: stranger } = await api.login('mallory@example.com');
      await end({ link }, stranger).expect(404);
      expect(ended()).toBeUndefined();
    });
  });
});
