import { describe, expect, test } from '@jest/globals';
import type { Repository } from '../../../crds/repository.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { PatchOptions } from '../../../kubernetes/client-options.ts';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../../kubernetes/secret-texts.ts';
import { SshKeys } from './ssh-keys.ts';

const alias = 'git.example.com';

function repository(generic: Partial<NonNullable<Repository['spec']['generic']>> = {}, uid = 'uid-1'): Repository {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Repository',
    metadata: { name: 'shop', namespace: 'group-acme', uid },
    spec: { type: 'generic', generic: { origin: 'git@git.example.com:acme/shop.git', ...generic } },
  };
}

/** One Secret of an API server; `before` is called before each write, when another writer could be first. */
function world(before: (location: { secret: Secret | undefined; revision: number }) => void = () => undefined) {
  const location: { secret: Secret | undefined; revision: number } = { secret: undefined, revision: 1 };
  const stamped = () =>
    location.secret && {
      ...location.secret,
      metadata: { ...location.secret.metadata, resourceVersion: String(location.revision) },
    };
  const comments: string[] = [];
  const client = {
    find: () => Promise.resolve(structuredClone(stamped())),
    get: () => Promise.resolve(structuredClone(stamped())),
    create: async (_type: unknown, secret: Secret) => {
      before(location);
      if (location.secret) throw new ApiError('POST', 409, 'AlreadyExists', 'it is there');
      location.secret = secret;
      return stamped();
    },
    patch: async (_type: unknown, _at: unknown, patch: Pick<Secret, 'data'>, options?: PatchOptions) => {
      before(location);
      // The version is not part of the patch, which the client would repeat.
      if (options?.resourceVersion !== String(location.revision)) throw new ApiError('PATCH', 409, 'Conflict', 'moved');
      location.secret = { ...location.secret, data: { ...location.secret?.data, ...patch.data } } as Secret;
      location.revision += 1;
      return stamped();
    },
  };
  const createKeyPair = (comment: string) => {
    comments.push(comment);
    return Promise.resolve({ privateKey: `private ${comments.length}`, publicKey: `public ${comments.length}` });
  };
  return { keys: new SshKeys({ client: client as never, createKeyPair }), location, comments };
}

const never = () => Promise.reject(new Error('the host was asked'));

describe('a key pair', () => {
  test('is created once, and deleted with its Repository', async () => {
    const { keys, location, comments } = world();
    expect(await keys.publicKey(repository())).toBe('public 1');
    expect(await keys.publicKey(repository())).toBe('public 1');
    expect(await keys.access(repository())).toMatchObject({ privateKey: 'private 1', publicKey: 'public 1' });
    expect(comments).toEqual(['coppice acme.shop']);
    expect(location.secret).toMatchObject({
      type: 'kubernetes.io/ssh-auth',
      metadata: { name: 'ssh-shop', namespace: 'group-acme', ownerReferences: [{ kind: 'Repository', uid: 'uid-1' }] },
    });
  });

  test('of another operator that was first is used', async () => {
    const first = world();
    await first.keys.publicKey(repository());
    const { keys } = world((location) => (location.secret = first.location.secret));
    expect(await keys.publicKey(repository())).toBe('public 1');
  });

  const overHttp = { origin: 'https://git.example.com/acme/shop.git' };

  test('is created over HTTP too, and kept when the origin changes', async () => {
    const { keys } = world();
    expect(await keys.publicKey(repository(overHttp))).toBe('public 1');
    expect(await keys.access(repository())).toMatchObject({ privateKey: 'private 1' });
  });

  test('that cannot be created delays nothing over HTTP', async () => {
    const { keys } = world();
    await keys.publicKey(repository({}, 'uid-2'));
    expect(await keys.publicKey(repository(overHttp))).toBeUndefined();
    await expect(keys.publicKey(repository())).rejects.toMatchObject({ reason: 'SshKeyMissing' });
  });

  test('is not created for hosts of other types', async () => {
    const { keys, location } = world();
    const spec: Repository['spec'] = { type: 'ownerhost', ownerhost: { owner: 'acme', repo: 'shop' } };
    expect(await keys.publicKey({ ...repository(), spec })).toBeUndefined();
    expect(location.secret).toBeUndefined();
  });

  test.each([
    ['of a former Repository of this name', (secret: Secret) => secret, 'uid-2'],
    ['that is not whole', (secret: Secret) => ({ ...secret, data: encodeTexts({ 'ssh-publickey': 'x' }) }), 'uid-1'],
  ])('in a Secret %s is not used', async (_which, change, uid) => {
    const { keys, location } = world();
    await keys.publicKey(repository());
    if (location.secret) location.secret = change(location.secret);
    await expect(keys.access(repository({}, uid))).rejects.toMatchObject({ reason: 'SshKeyMissing' });
  });
});

describe('known hosts', () => {
  test('are requested once, and kept by host', async () => {
    const { keys, location } = world();
    const access = await keys.access(repository());
    expect(await access.knownHosts(alias, () => Promise.resolve(`${alias} a\n`))).toBe(`${alias} a\n`);
    expect(await access.knownHosts(alias, never)).toBe(`${alias} a\n`);
    expect(await (await keys.access(repository())).knownHosts(alias, never)).toBe(`${alias} a\n`);
    expect(await access.knownHosts('other', () => Promise.resolve('other b\n'))).toBe(`${alias} a\nother b\n`);
    expect(secretText(location.secret, 'known_hosts')).toBe(`${alias} a\nother b\n`);
    expect(secretText(location.secret, 'ssh-privatekey')).toBe('private 1');
  });

  test('that somebody else pinned meanwhile take precedence', async () => {
    const { keys, location } = world((held) => {
      if (!held.secret || secretText(held.secret, 'known_hosts') !== undefined) return;
      held.secret = {
        ...held.secret,
        data: { ...held.secret.data, ...encodeTexts({ known_hosts: `${alias} theirs\n` }) },
      };
      held.revision += 1;
    });
    const access = await keys.access(repository());
    expect(await access.knownHosts(alias, () => Promise.resolve(`${alias} mine\n`))).toBe(`${alias} theirs\n`);
    expect(secretText(location.secret, 'known_hosts')).toBe(`${alias} theirs\n`);
  });

  test('in the spec are the only ones used', async () => {
    const { keys, location } = world();
    const access = await keys.access(repository({ knownHosts: '  other x\n\n' }));
    expect(await access.knownHosts(alias, never)).toBe('other x\n');
    expect(secretText(location.secret, 'known_hosts')).toBeUndefined();
  });

  test('of a host that does not respond are not kept', async () => {
    const { keys, location } = world();
    const access = await keys.access(repository({ knownHosts: ' \n' }));
    await expect(access.knownHosts(alias, never)).rejects.toThrow('the host was asked');
    expect(secretText(location.secret, 'known_hosts')).toBeUndefined();
  });
});
