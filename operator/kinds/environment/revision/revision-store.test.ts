import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import type { ConfigMap, KubernetesObject, ResourceType, Secret } from '../../../../kubernetes/resource-type.ts';
import type { FileBundle } from '../../../../service-file/schema.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { StoredRevision } from './revision.ts';
import { RevisionStore } from './revision-store.ts';

const location = { namespace: 'env-x', namespaceUid: 'ns1', labels: { owner: 'x' } };

/** A bundle of one file that is stored as `object`. */
function bundleOf(object: string, secret: boolean, bytes = 3): FileBundle {
  const file = { key: 'a', path: 'a', mode: 0o444, stored: { object, key: 'content', bytes } };
  return { name: `files-${object}`, secret, files: [file] };
}

const configuration = bundleOf('file-1', false);
const password = bundleOf('file-2', true, 7);
const contents = new Map([
  ['file-1', new Map([['content', Buffer.from([0, 255, 1])]])],
  ['file-2', new Map([['content', Buffer.from('hunter2')]])],
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

/** The options of save(), and the bytes that were reserved and written. */
function saving(kept: string[] = []) {
  const reserved: number[] = [];
  const spent: number[] = [];
  const budget = {
    requireRoom: (bytes: number) => void reserved.push(bytes),
    spend: (bytes: number) => void spent.push(bytes),
  };
  return { options: { kept, budget }, reserved, written: () => spent.reduce((sum, bytes) => sum + bytes, 0) };
}
const { options } = saving();

/** A namespace's Secrets and ConfigMaps; `calls` lists the requests. */
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
  test('stores a revision as a Secret without the contents of its files, which are objects of their own', async () => {
    const { objects, client } = cluster();
    const large = new Map([['file-1', new Map([['content', randomBytes(450_000)]])]]);
    await new RevisionStore(client).save(location, revision('v1', [configuration]), large, options);
    await new RevisionStore(client).save(location, revision('v2', [password]), contents, options);
    expect([...objects.keys()]).toEqual([
      'ConfigMap/file-1',
      'Secret/version-v1',
      'Secret/file-2',
      'Secret/version-v2',
    ]);
    expect(JSON.stringify(objects.get('Secret/version-v1')).length).toBeLessThan(1000);
    expect((objects.get('ConfigMap/file-1') as ConfigMap).binaryData?.['content']).toHaveLength(600_000);
    expect((objects.get('Secret/file-2') as Secret).data).toEqual({
      content: Buffer.from('hunter2').toString('base64'),
    });
  });

  test('finds a revision that another operator stored, with one request for each object', async () => {
    const { calls, client } = cluster();
    const saved = await new RevisionStore(client).save(
      location,
      revision('v1', [configuration, password]),
      contents,
      options,
    );
    expect(saved.secrets).toEqual(['hunter2']);
    calls.length = 0;
    const store = new RevisionStore(client);
    expect(await store.find(location, 'v1')).toEqual(saved);
    expect(await store.find(location, 'v1')).toEqual(saved);
    expect(calls).toEqual(['find Secret/version-v1', 'find ConfigMap/file-1', 'find Secret/file-2']);
  });

  test.each(['ConfigMap/file-1', 'Secret/file-2'])(
    'does not find a revision without its %s, so that it is planned again',
    async (missing) => {
      const { objects, client } = cluster();
      const planned = revision('v1', [configuration, password]);
      await new RevisionStore(client).save(location, planned, contents, options);
      objects.delete(missing);
      const store = new RevisionStore(client);
      expect(await store.find(location, 'v1')).toBeUndefined();
      await store.save(location, planned, contents, options);
      expect(objects.has(missing)).toBe(true);
    },
  );

  test('writes only files that no kept revision has, and counts only what it writes', async () => {
    const { calls, client } = cluster();
    const store = new RevisionStore(client);
    const first = saving();
    await store.save(location, revision('v1', [configuration, password]), contents, first.options);
    calls.length = 0;
    const second = saving(['v1']);
    const changed = new Map([...contents, ['file-3', new Map([['content', Buffer.alloc(5000)]])]]);
    await store.save(location, revision('v2', [bundleOf('file-3', false, 5000), password]), changed, second.options);
    expect(calls).toEqual(['create ConfigMap/file-3', 'create Secret/version-v2']);
    expect(second.reserved).toEqual([second.written()]);
    expect(second.written()).toBeGreaterThan(5000 + 2 * 1024);
    expect(second.written()).toBeLessThan(5000 + 2 * 1024 + 1000);
    // Files that both mount are counted once.
    expect(await store.bytesOf(location, ['v1', 'v2'])).toBe(first.written() + second.written());
  });

  test('writes nothing if the budget refuses', async () => {
    const { objects, client } = cluster();
    const { budget } = options;
    const refusing = {
      ...budget,
      requireRoom: () => {
        throw new Stalled('TooManyStoredBytes', 'too many');
      },
    };
    const saved = new RevisionStore(client).save(location, revision('v1', [configuration]), contents, {
      kept: [],
      budget: refusing,
    });
    await expect(saved).rejects.toThrow(Stalled);
    expect(objects.size).toBe(0);
  });

  test('finds what an older Coppice stored, with the contents in the revision, and creates missing files', async () => {
    const { objects, client } = cluster();
    const files = [{ key: 'b', path: 'b', mode: 0o444 }];
    const older = revision('v1', [{ name: 'files-2', secret: true, files }]);
    const gzipped = (value: unknown) => gzipSync(JSON.stringify(value)).toString('base64');
    const data = {
      'version.json.gz': gzipped(older),
      'contents.json.gz': gzipped({ 'files-2': { b: Buffer.from('hunter2').toString('base64') } }),
    };
    objects.set('Secret/version-v1', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'version-v1', namespace: 'env-x' },
      data,
    } as Secret);
    expect(await new RevisionStore(client).find(location, 'v1')).toEqual({ ...older, secrets: ['hunter2'] });
    expect((objects.get('Secret/files-2') as Secret).data).toEqual({ b: Buffer.from('hunter2').toString('base64') });
  });

  test('keeps values that pods must not show in a Secret for each service, and completes them', async () => {
    const { objects, client } = cluster();
    const hidden = { web: { secret: 'values-web-1', variables: { PASSWORD: 'hunter2' } } };
    const planned = { ...revision('v1', []), hidden };
    const saved = await new RevisionStore(client).save(location, planned, new Map(), options);
    const data = { PASSWORD: Buffer.from('hunter2').toString('base64') };
    expect(objects.get('Secret/values-web-1')).toMatchObject({ immutable: true, data });
    // Logs are masked by what made these values secret.
    expect(saved.secrets).toEqual([]);
    objects.delete('Secret/values-web-1');
    expect(await new RevisionStore(client).find(location, 'v1')).toEqual(saved);
    expect(objects.get('Secret/values-web-1')).toMatchObject({ data });
  });

  test('deletes with a retired revision the values that no kept one uses', async () => {
    const { objects, client } = cluster();
    const store = new RevisionStore(client);
    const values = (secret: string) => ({ secret, variables: { PASSWORD: secret } });
    const both = { api: values('values-api-1'), web: values('values-web-1') };
    await store.save(location, { ...revision('v1', []), hidden: both }, new Map(), options);
    await store.save(location, { ...revision('v2', []), hidden: { api: both.api } }, new Map(), options);
    await store.retire(location, ['v1'], ['v2']);
    expect([...objects.keys()].sort()).toEqual(['Secret/values-api-1', 'Secret/version-v2']);
  });

  test('replaces a revision that does not match the schema', async () => {
    const { objects, client } = cluster();
    const metadata = { name: 'version-v1', namespace: 'env-x' };
    objects.set('Secret/version-v1', { apiVersion: 'v1', kind: 'Secret', metadata });
    const store = new RevisionStore(client);
    expect(await store.find(location, 'v1')).toBeUndefined();
    await store.save(location, revision('v1', []), new Map(), options);
    expect(await new RevisionStore(client).find(location, 'v1')).toMatchObject({ id: 'v1' });
  });

  test('replaces the first plan that a killed operator stored', async () => {
    const { objects, client } = cluster();
    await new RevisionStore(client).save(location, revision('v1', [configuration]), contents, options);
    const store = new RevisionStore(client);
    expect(await store.save(location, revision('v1', [configuration]), contents, options)).toMatchObject({ id: 'v1' });
    expect([...objects.keys()].sort()).toEqual(['ConfigMap/file-1', 'Secret/version-v1']);
  });

  test('deletes no file beside a kept revision that cannot be read', async () => {
    const { objects, client } = cluster();
    const store = new RevisionStore(client);
    await store.save(location, revision('v1', [password]), contents, options);
    await store.retire(location, ['v1'], ['unreadable']);
    expect([...objects.keys()]).toEqual(['Secret/file-2']);
  });

  test('deletes with a retired revision the files that no kept one mounts', async () => {
    const { objects, client } = cluster();
    const store = new RevisionStore(client);
    await store.save(location, revision('v1', [configuration, password]), contents, options);
    await store.save(location, revision('v2', [password]), contents, options);
    await store.retire(location, ['v1'], ['v2']);
    expect([...objects.keys()].sort()).toEqual(['Secret/file-2', 'Secret/version-v2']);
    expect(await store.find(location, 'v1')).toBeUndefined();
  });
});
