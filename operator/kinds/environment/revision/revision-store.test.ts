import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import type { ConfigMap, KubernetesObject, ResourceType, Secret } from '../../../../kubernetes/resource-type.ts';
import type { FileBundle } from '../../../../service-file/schema.ts';
import type { StoredRevision } from './revision.ts';
import { RevisionStore } from './revision-store.ts';

const location = { namespace: 'env-x', namespaceUid: 'ns1', labels: { owner: 'x' } };
const configuration: FileBundle = { name: 'files-1', secret: false, files: [{ key: 'a', path: 'a', mode: 0o444 }] };
const password: FileBundle = { name: 'files-2', secret: true, files: [{ key: 'b', path: 'b', mode: 0o444 }] };
const contents = new Map([
  ['files-1', new Map([['a', Buffer.from([0, 255, 1])]])],
  ['files-2', new Map([['b', Buffer.from('hunter2')]])],
]);

function revision(id: string, bundles: FileBundle[]): StoredRevision {
  return {
    id,
    commit: 'c1',
    serviceFile: { services: [], publicRoutes: [], volumes: [], bundles },
    images: [],
    warnings: [],
  };
}

/** A namespace's Secrets and ConfigMaps; `calls` reports what was asked. */
function cluster() {
  const objects = new Map<string, KubernetesObject>();
  const calls: string[] = [];
  const key = ({ kind }: { kind: string }, name: string) => `${kind}/${name}`;
  const client = {
    find: (type: ResourceType, { name }: { name: string }) => {
      calls.push(`find ${key(type, name)}`);
      return Promise.resolve(objects.get(key(type, name)));
    },
    create: (type: ResourceType, object: KubernetesObject) => {
      const at = key(type, object.metadata.name);
      calls.push(`create ${at}`);
      if (objects.has(at)) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'taken'));
      objects.set(at, object);
      return Promise.resolve(object);
    },
    delete: (type: ResourceType, { name }: { name: string }) => {
      objects.delete(key(type, name));
      return Promise.resolve();
    },
  };
  return { objects, calls, client: client as unknown as ConstructorParameters<typeof RevisionStore>[0] };
}

describe('RevisionStore', () => {
  test('keeps a version as a Secret, and its files as what they are', async () => {
    const { objects, client } = cluster();
    await new RevisionStore(client).save(location, revision('v1', [configuration, password]), contents);
    expect([...objects.keys()]).toEqual(['ConfigMap/files-1', 'Secret/files-2', 'Secret/version-v1']);
    expect((objects.get('ConfigMap/files-1') as ConfigMap).binaryData).toEqual({ a: 'AP8B' });
    expect((objects.get('Secret/files-2') as Secret).data).toEqual({ b: Buffer.from('hunter2').toString('base64') });
  });

  test('what was kept is found by another operator, and asked for once', async () => {
    const { calls, client } = cluster();
    const kept = await new RevisionStore(client).save(location, revision('v1', [configuration]), contents);
    calls.length = 0;
    const store = new RevisionStore(client);
    expect(await store.find(location, 'v1')).toEqual(kept);
    expect(await store.find(location, 'v1')).toEqual(kept);
    expect(calls).toEqual(['find Secret/version-v1', 'find ConfigMap/files-1']);
  });

  test('files that a killed operator did not get to are made', async () => {
    const { objects, client } = cluster();
    await new RevisionStore(client).save(location, revision('v1', [configuration, password]), contents);
    objects.delete('Secret/files-2');
    await new RevisionStore(client).find(location, 'v1');
    expect((objects.get('Secret/files-2') as Secret).data).toEqual({ b: Buffer.from('hunter2').toString('base64') });
  });

  test('keeps the values that pods must not show in a Secret for each service, and completes them', async () => {
    const { objects, client } = cluster();
    const hidden = { web: { secret: 'values-web-1', variables: { PASSWORD: 'hunter2' } } };
    const saved = await new RevisionStore(client).save(location, { ...revision('v1', []), hidden }, new Map());
    const data = { PASSWORD: Buffer.from('hunter2').toString('base64') };
    expect(objects.get('Secret/values-web-1')).toMatchObject({ immutable: true, data });
    // They are found in logs by what made them secret.
    expect(saved.secrets).toEqual([]);
    objects.delete('Secret/values-web-1');
    expect(await new RevisionStore(client).find(location, 'v1')).toEqual(saved);
    expect(objects.get('Secret/values-web-1')).toMatchObject({ data });
  });

  test('a retired version takes the values along that no kept one uses', async () => {
    const { objects, client } = cluster();
    const store = new RevisionStore(client);
    const values = (secret: string) => ({ secret, variables: { PASSWORD: secret } });
    const both = { api: values('values-api-1'), web: values('values-web-1') };
    await store.save(location, { ...revision('v1', []), hidden: both }, new Map());
    await store.save(location, { ...revision('v2', []), hidden: { api: both.api } }, new Map());
    await store.retire(location, ['v1'], ['v2']);
    expect([...objects.keys()].sort()).toEqual(['Secret/values-api-1', 'Secret/version-v2']);
  });

  test('a version that does not fit any more is none', async () => {
    const { objects, client } = cluster();
    const metadata = { name: 'version-v1', namespace: 'env-x' };
    objects.set('Secret/version-v1', { apiVersion: 'v1', kind: 'Secret', metadata });
    const store = new RevisionStore(client);
    expect(await store.find(location, 'v1')).toBeUndefined();
    await store.save(location, revision('v1', []), new Map());
    expect(await new RevisionStore(client).find(location, 'v1')).toMatchObject({ id: 'v1' });
  });

  test('a first plan takes the place of one that a killed operator saved', async () => {
    const { objects, client } = cluster();
    await new RevisionStore(client).save(location, revision('v1', [configuration]), contents);
    const store = new RevisionStore(client);
    expect(await store.save(location, revision('v1', [configuration]), contents)).toMatchObject({ id: 'v1' });
    expect([...objects.keys()].sort()).toEqual(['ConfigMap/files-1', 'Secret/version-v1']);
  });

  test('the texts of secrets come from the files, and are not kept twice', async () => {
    const { client } = cluster();
    const saved = await new RevisionStore(client).save(location, revision('v1', [configuration, password]), contents);
    expect(saved.secrets).toEqual(['hunter2']);
    expect(await new RevisionStore(client).find(location, 'v1')).toEqual(saved);
  });

  test('two files of the largest size fit the Secret', async () => {
    const { objects, client } = cluster();
    const large = new Map([
      [
        'files-2',
        new Map([
          ['b', randomBytes(450_000)],
          ['c', randomBytes(450_000)],
        ]),
      ],
    ]);
    await new RevisionStore(client).save(location, revision('v1', [password]), large);
    const { data = {} } = objects.get('Secret/version-v1') as Secret;
    expect(Object.values(data).reduce((sum, value) => sum + (value.length * 3) / 4, 0)).toBeLessThan(1024 * 1024);
  });

  test('beside a kept version that cannot be read, no file is taken away', async () => {
    const { objects, client } = cluster();
    const store = new RevisionStore(client);
    await store.save(location, revision('v1', [password]), contents);
    await store.retire(location, ['v1'], ['unreadable']);
    expect([...objects.keys()]).toEqual(['Secret/files-2']);
  });

  test('a retired version takes the files along that no kept one mounts', async () => {
    const { objects, client } = cluster();
    const store = new RevisionStore(client);
    await store.save(location, revision('v1', [configuration, password]), contents);
    await store.save(location, revision('v2', [password]), contents);
    await store.retire(location, ['v1'], ['v2']);
    expect([...objects.keys()].sort()).toEqual(['Secret/files-2', 'Secret/version-v2']);
    expect(await store.find(location, 'v1')).toBeUndefined();
  });
});
