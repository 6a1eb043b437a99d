import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { VariableSpec } from '../../crds/variable.ts';
import { ApiError, UnreachableError } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import type { VariableView } from './variable-view.ts';

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

/** Returns the values in Secrets of the group's namespace. */
function keptValues(): string[] {
  const secrets = api.cluster.all<Secret>(Secret).filter(({ metadata }) => metadata.namespace === 'group-acme');
  return secrets
    .flatMap(({ data }) => Object.values(data ?? {}))
    .map((value) => Buffer.from(value, 'base64').toString());
}

const kinds = [
  { path: '/api/group/acme', type: GROUP, at: { name: 'acme' } },
  { path: '/api/repository/acme.shop', type: REPOSITORY, at: { namespace: 'group-acme', name: 'shop' } },
];

describe.each(kinds)('$path', ({ path, type, at }) => {
  const send = (method: 'get' | 'post' | 'patch' | 'delete', rest: string, body?: object) =>
    request(api.app)[method](`${path}/${rest}`).set('x-service-token', token).send(body);
  const listed = async () =>
    ((await send('get', 'settings').expect(200)).body as { variables: VariableView[] }).variables;
  const specs = () => api.cluster.all<Group | Repository>(type)[0]?.spec.variables ?? [];
  const applied = (variables: VariableSpec[]) => api.cluster.change(type, at, { spec: { variables } });

  test('creates, reads, changes and deletes a variable, with no value in the spec and none left behind', async () => {
    const created = await send('post', 'variables', { name: 'KEY', value: 'hunter2' }).expect(201);
    expect(created.body).toEqual({ name: 'KEY', value: 'hunter2', visibility: 'always' });
    await send('post', 'variables', { name: 'ÜBER', value: 'x' }).expect(422);
    await send('post', 'variables', { name: '_n1', value: 5, visibility: 'buildtime' }).expect(201);
    expect(await listed()).toEqual([
      { name: 'KEY', value: 'hunter2', visibility: 'always' },
      { name: '_n1', value: '5', visibility: 'buildtime' },
    ]);
    expect(JSON.stringify(api.cluster.all(type))).not.toContain('hunter2');

    const [before] = specs();
    const changed = await send('patch', 'variables', { name: 'KEY', value: 'hunter3' }).expect(200);
    expect(changed.body).toEqual({ name: 'KEY', value: 'hunter3', visibility: 'always' });
    expect(specs()[0]?.valueFrom).not.toEqual(before?.valueFrom);
    const hidden = await send('patch', 'variables', { name: 'KEY', visibility: 'buildtime' }).expect(200);
    expect(hidden.body).toEqual({ name: 'KEY', value: 'hunter3', visibility: 'buildtime' });
    expect(keptValues().sort()).toEqual(['5', 'hunter3']);

    const left = await send('delete', 'variables/KEY').expect(200);
    expect(left.body).toEqual([{ name: '_n1', value: '5', visibility: 'buildtime' }]);
    expect((await send('delete', 'variables/_n1').expect(200)).body).toEqual([]);
    expect(keptValues()).toEqual([]);
  });

  test.each([
    ['read', { value: '', withheld: true }],
    ['operate', { value: 'hunter2' }],
  ])('with a token of the access %s', async (access, seen) => {
    await send('post', 'variables', { name: 'KEY', value: 'hunter2' }).expect(201);
    await send('post', 'variables', { name: 'HIDDEN', value: 'hunter3', secret: true }).expect(201);
    const body = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', scopes: { access } };
    const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
    ({ token } = made.body as { token: string });
    expect(await listed()).toEqual([
      { name: 'KEY', visibility: 'always', ...seen },
      { name: 'HIDDEN', value: '', visibility: 'always', secret: true },
    ]);
    const file = 'services: {web: {image: "nginx:1", environment: {A: "${KEY}"}}}';
    const checked = await request(api.app)
      .post('/api/repository/acme.shop/check')
      .set('x-service-token', token)
      .send({ serviceFile: Buffer.from(file).toString('base64') })
      .expect(200);
    expect(checked.text.includes('hunter2')).toBe(access === 'operate');
  });

  describe('a secret variable', () => {
    const shown = { name: 'KEY', value: '', visibility: 'always', secret: true };

    test('is never shown again, and stays secret when its value changes', async () => {
      expect(
        (await send('post', 'variables', { name: 'KEY', value: 'hunter2', secret: true }).expect(201)).body,
      ).toEqual(shown);
      expect(await listed()).toEqual([shown]);
      expect((await send('patch', 'variables', { name: 'KEY', value: 'hunter3' }).expect(200)).body).toEqual(shown);
      const built = await send('patch', 'variables', { name: 'KEY', visibility: 'buildtime' }).expect(200);
      expect(built.body).toEqual({ ...shown, visibility: 'buildtime' });
      await send('post', 'variables', { name: 'OTHER', value: '1' }).expect(201);
      expect((await send('delete', 'variables/OTHER').expect(200)).body).toEqual([built.body]);
      expect(specs()).toMatchObject([{ name: 'KEY', secret: true }]);
      expect(keptValues()).toEqual(['hunter3']);
    });

    test('becomes readable only with a new value', async () => {
      await send('post', 'variables', { name: 'KEY', value: 'hunter2', secret: 'true' }).expect(201);
      const answer = await send('patch', 'variables', { name: 'KEY', secret: false, visibility: 'always' }).expect(422);
      expect(answer.body).toMatchObject({ details: [{ path: 'secret' }] });
      expect(await listed()).toEqual([shown]);
      const open = await send('patch', 'variables', { name: 'KEY', secret: false, value: 'open' }).expect(200);
      expect(open.body).toEqual({ name: 'KEY', value: 'open', visibility: 'always' });
    });

    test('can be made from any variable, and the spec no longer contains its value', async () => {
      applied([{ name: 'KEY', value: 'hunter2', visibility: 'always' }]);
      await send('patch', 'variables', { name: 'KEY', secret: true }).expect(200);
      expect(JSON.stringify(specs())).not.toContain('hunter2');
      expect(await listed()).toEqual([shown]);
      expect(keptValues()).toEqual(['hunter2']);
    });

    test('is not shown by the check of a service file', async () => {
      await send('post', 'variables', { name: 'KEY', value: 'hunter2', secret: true }).expect(201);
      const file = 'services: {web: {image: "nginx:1", environment: {A: "${KEY}", B: "${KEY:+set}"}}}';
      const checked = await request(api.app)
        .post('/api/repository/acme.shop/check')
        .set('x-service-token', token)
        .send({ serviceFile: Buffer.from(file).toString('base64') })
        .expect(200);
      expect(checked.text).not.toContain('hunter2');
      expect(checked.text).toContain('withheld');
    });
  });

  test('refuses names that only Coppice sets; one that kubectl applied can be deleted', async () => {
    const refused = await send('post', 'variables', { name: 'COPPICE_COMMIT', value: 'x' }).expect(422);
    expect(JSON.stringify(refused.body)).toContain(
      'is reserved: names that start with COPPICE_ are for the variables that Coppice sets. Choose another name',
    );
    expect(await listed()).toEqual([]);
    applied([{ name: 'COPPICE_X', value: 'x', visibility: 'always' }]);
    expect((await send('delete', 'variables/COPPICE_X').expect(200)).body).toEqual([]);
  });

  test('creates a Secret that belongs to the owner of the variables', async () => {
    await send('post', 'variables', { name: 'KEY', value: '' }).expect(201);
    const [secret] = api.cluster.all<Secret>(Secret).filter(({ metadata }) => metadata.namespace === 'group-acme');
    const [owner] = api.cluster.all<Group | Repository>(type);
    expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: type.kind, uid: owner?.metadata.uid }]);
  });

  test('answers 409 to a name that is taken and 404 to an unknown one, and keeps the values', async () => {
    await send('post', 'variables', { name: 'KEY', value: 'old' }).expect(201);
    const answer = await send('post', 'variables', { name: 'KEY', value: 'new' }).expect(409);
    expect(answer.body).toEqual({ error: 'a variable of this name already exists. PATCH changes it' });
    await send('patch', 'variables', { name: 'NONE', value: 'x' }).expect(404);
    await send('patch', 'variables', { name: 'a-b', visibility: 'always' }).expect(404);
    await send('delete', 'variables/NONE').expect(404);
    expect(keptValues()).toEqual(['old']);
  });

  test('keeps all variables of concurrent requests, and refuses one of two with the same name', async () => {
    const names = Array.from({ length: 12 }, (_one, index) => `V${index}`);
    const answers = await Promise.all(
      [...names, 'V0'].map((name) => send('post', 'variables', { name, value: `value of ${name}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...names.map(() => 201), 409]);
    const variables = await listed();
    expect(variables.map(({ name }) => name).sort()).toEqual(names.sort());
    for (const { name, value } of variables) expect(value).toBe(`value of ${name}`);
    expect(keptValues()).toHaveLength(names.length);
  });

  test('shows, changes and deletes what kubectl applied, and keeps Secrets that were created manually', async () => {
    const secretKeyRef = { name: 'vault', key: 'pass' };
    applied([
      { name: 'PLAIN', value: 'p', visibility: 'always' },
      { name: 'REF', valueFrom: { secretKeyRef }, visibility: 'always' },
      { name: 'GONE', valueFrom: { secretKeyRef: { name: 'nowhere', key: 'x' } }, visibility: 'buildtime' },
    ]);
    const data = { pass: Buffer.from('word').toString('base64') };
    api.cluster.add(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'group-acme', name: 'vault' },
      data,
    });
    expect(await listed()).toEqual([
      { name: 'PLAIN', value: 'p', visibility: 'always' },
      { name: 'REF', value: 'word', visibility: 'always' },
      { name: 'GONE', value: '', visibility: 'buildtime', error: expect.stringContaining('nowhere') },
    ]);
    await send('patch', 'variables', { name: 'PLAIN', value: 'q' }).expect(200);
    await send('patch', 'variables', { name: 'REF', visibility: 'buildtime' }).expect(200);
    expect(specs()[0]?.value).toBeUndefined();
    expect(specs()[1]).toEqual({ name: 'REF', valueFrom: { secretKeyRef }, visibility: 'buildtime' });
    await send('delete', 'variables/REF').expect(200);
    expect(keptValues().sort()).toEqual(['q', 'word']);
  });

  test('shows nothing from a Secret of another Repository', async () => {
    const ownerReferences = [{ apiVersion: 'v', kind: 'Repository', name: 'other', uid: 'uid-of-other' }];
    api.cluster.add(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'group-acme', name: 'repository-other', ownerReferences },
      data: { token: Buffer.from('hunter2').toString('base64') },
    });
    applied([
      {
        name: 'TOKEN',
        valueFrom: { secretKeyRef: { name: 'repository-other', key: 'token' } },
        visibility: 'always',
      },
    ]);
    expect(await listed()).toEqual([
      { name: 'TOKEN', value: '', visibility: 'always', error: expect.stringContaining('Repository other alone') },
    ]);
  });

  test('keeps the value of a write without a response, which may have succeeded', async () => {
    await send('post', 'variables', { name: 'A', value: 'a' }).expect(201);
    api.cluster.patchFailures.set(type.kind, new UnreachableError('timeout'));
    await send('post', 'variables', { name: 'B', value: 'b' }).expect(503);
    expect(keptValues()).toEqual(['a', 'b']);
  });

  test('writes only the changed value, however large the others are', async () => {
    const large = 'x'.repeat(30_000);
    for (let index = 0; index < 8; index++)
      await send('post', 'variables', { name: `LARGE_${index}`, value: large }).expect(201);
    for (let index = 0; index < 20; index++)
      await send('post', 'variables', { name: `SMALL_${index}`, value: 'small' }).expect(201);
    const secrets = () => api.cluster.all<Secret>(Secret).filter(({ metadata }) => metadata.namespace === 'group-acme');
    const versions = new Map(secrets().map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    await send('patch', 'variables', { name: 'SMALL_7', value: 'other' }).expect(200);
    const written = secrets().filter(({ metadata }) => versions.get(metadata.name) !== metadata.resourceVersion);
    const bytes = written.reduce((sum, secret) => sum + JSON.stringify(secret).length, 0);
    expect(bytes).toBeLessThan(5_000);
    expect(secrets()).toHaveLength(9);
    expect((await listed()).map(({ value }) => value)).toEqual([
      ...Array.from({ length: 8 }, () => large),
      ...Array.from({ length: 20 }, (_, index) => (index === 7 ? 'other' : 'small')),
    ]);
  });

  test('limits all values together, and counts a changed one once', async () => {
    const large = 'x'.repeat(32_000);
    for (let index = 0; index < 8; index++)
      await send('post', 'variables', { name: `LARGE_${index}`, value: large }).expect(201);
    const answer = await send('post', 'variables', { name: 'MORE', value: large }).expect(422);
    expect(answer.body).toMatchObject({ details: [{ path: 'value', message: expect.stringContaining('256 KiB') }] });
    await send('patch', 'variables', { name: 'LARGE_3', value: 'y'.repeat(32_000) }).expect(200);
    expect(keptValues()).toHaveLength(8);
    await send('delete', 'variables/LARGE_3').expect(200);
    await send('post', 'variables', { name: 'MORE', value: large }).expect(201);
  });

  test('answers 422 to values that do not fit into the Secret', async () => {
    await send('post', 'variables', { name: 'A', value: 'a' }).expect(201);
    const full = new ApiError('patch', 422, 'Invalid', 'data: Too long: may not be more than 1048576 bytes');
    api.cluster.patchFailures.set('Secret', full);
    const answer = await send('post', 'variables', { name: 'B', value: 'b' }).expect(422);
    expect(answer.body).toMatchObject({ details: [{ path: 'value', message: expect.stringContaining('256 KiB') }] });
  });
});
