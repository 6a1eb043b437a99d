import { describe, expect, test } from '@jest/globals';
import { ApiError } from './api-error.ts';
import { Applier, type Known } from './apply.ts';
import type { ApplyOptions, WriteOptions } from './client-options.ts';
import { ConfigMap, type KubernetesObject, type ResourceType } from './resource-type.ts';

const hashAnnotation = 'example.org/applied';

/** An API server that stores one object, and the value `1000m` as `1`. */
class FakeServer {
  requests: ApplyOptions[] = [];
  /** The methods of requests that are not an apply, with their field managers. */
  writes: string[] = [];
  live: ConfigMap | undefined;
  #version = 0;

  apply<T extends KubernetesObject>(_type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    this.requests.push(options);
    return this.#store(object);
  }

  create<T extends KubernetesObject>(_type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T> {
    this.writes.push(`POST by ${options?.fieldManager ?? 'nobody'}`);
    if (this.live) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'it is there'));
    return this.#store(object);
  }

  replace<T extends KubernetesObject>(_type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T> {
    this.writes.push(`PUT by ${options?.fieldManager ?? 'nobody'}`);
    if (!this.live) return Promise.reject(new ApiError('PUT', 404, 'NotFound', 'it is gone'));
    return this.#store(object);
  }

  #store<T extends KubernetesObject>(object: T): Promise<T> {
    const text = JSON.stringify({ ...object, metadata: { ...object.metadata, uid: 'u1' } }).replaceAll('1000m', '1');
    const next = JSON.parse(text) as ConfigMap;
    const before = { ...this.live, metadata: { ...this.live?.metadata, resourceVersion: undefined } };
    if (
      JSON.stringify(before) !== JSON.stringify({ ...next, metadata: { ...next.metadata, resourceVersion: undefined } })
    ) {
      this.#version++;
    }
    next.metadata.resourceVersion = String(this.#version);
    this.live = next;
    return Promise.resolve(next as unknown as T);
  }
}

function configMap(data: Record<string, string>): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' }, data };
}

function setUp() {
  const server = new FakeServer();
  const applier = new Applier({ client: server, fieldManager: 'me', hashAnnotation });
  const apply = (data: Record<string, string>, live = server.live) => applier.apply(ConfigMap, configMap(data), live);
  return { server, apply };
}

describe('Applier', () => {
  test('waits for a slot only if it writes', async () => {
    const server = new FakeServer();
    const written: string[] = [];
    const applier = new Applier({
      client: server,
      fieldManager: 'me',
      hashAnnotation,
      inSlot: (object, write) => {
        written.push(object.metadata.name);
        expect(server.requests).toHaveLength(0);
        return write();
      },
    });
    await applier.apply(ConfigMap, configMap({ a: '1' }), undefined);
    await applier.apply(ConfigMap, configMap({ a: '1' }), server.live);
    expect(written).toEqual(['web']);
    expect(server.requests).toHaveLength(1);
  });

  test('creates a missing object by a forced apply under its field manager, with the hash', async () => {
    const { server, apply } = setUp();
    const { object, written } = await apply({ a: '1' });
    expect(written).toBe(true);
    expect(object.metadata.annotations?.[hashAnnotation]).toMatch(/^[0-9a-f]{32}$/);
    expect(server.requests).toMatchObject([{ fieldManager: 'me', force: true }]);
  });

  test('makes no request if nothing changes, and returns the live object', async () => {
    const { server, apply } = setUp();
    await apply({ a: '1' });
    const { object, written } = await apply({ a: '1' });
    expect(written).toBe(false);
    expect(object).toBe(server.live);
    expect(server.requests).toHaveLength(1);
  });

  test('ignores fields that others added', async () => {
    const { server, apply } = setUp();
    const { object } = await apply({ a: '1' });
    await apply(
      { a: '1' },
      { ...object, data: { a: '1', other: 'x' }, metadata: { ...object.metadata, labels: { x: 'y' } } },
    );
    expect(server.requests).toHaveLength(1);
  });

  test('applies when a value changed, and when a field is no longer named', async () => {
    const { server, apply } = setUp();
    await apply({ a: '1', b: '2' });
    expect((await apply({ a: '1', b: '3' })).written).toBe(true);
    expect((await apply({ a: '1' })).written).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(server.live?.data).toEqual({ a: '1' });
  });

  test('applies when somebody changed the live object', async () => {
    const { server, apply } = setUp();
    const { object } = await apply({ a: '1' });
    await apply({ a: '1' }, { ...object, data: { a: 'drifted' } });
    expect(server.requests).toHaveLength(2);
  });

  test('applies an object that the API server normalizes once, and again after drift', async () => {
    const { server, apply } = setUp();
    const { object } = await apply({ cpu: '1000m' });
    expect(object.data).toEqual({ cpu: '1' });
    await apply({ cpu: '1000m' });
    await apply({ cpu: '1000m' }, { ...object, metadata: { ...object.metadata, resourceVersion: '99' } });
    expect(server.requests).toHaveLength(1);
    await apply({ cpu: '1000m' }, { ...object, data: { cpu: '2' } });
    expect(server.requests).toHaveLength(2);
    await apply({ cpu: '1000m' }, { ...object, metadata: { ...object.metadata, uid: 'another' } });
    expect(server.requests).toHaveLength(3);
  });

  test('recognizes a normalized object in a new process with one request that changes nothing', async () => {
    const { server, apply } = setUp();
    await apply({ cpu: '1000m' });
    const restarted = new Applier({ client: server, fieldManager: 'me', hashAnnotation });
    const again = () => restarted.apply(ConfigMap, configMap({ cpu: '1000m' }), server.live);
    expect((await again()).written).toBe(false);
    await again();
    expect(server.requests).toHaveLength(2);
  });

  test('passes on the error of the client', async () => {
    const failure = new Error('refused');
    const fail = () => Promise.reject(failure);
    const applier = new Applier({
      client: { apply: fail, create: fail, replace: fail },
      fieldManager: 'me',
      hashAnnotation,
    });
    await expect(applier.apply(ConfigMap, configMap({}), undefined)).rejects.toBe(failure);
    await expect(applier.replace(ConfigMap, configMap({}), { isNew: true })).rejects.toBe(failure);
    await expect(applier.replace(ConfigMap, configMap({}), { isNew: false })).rejects.toBe(failure);
  });

  describe('replacing', () => {
    const replacing = () => {
      const { server } = setUp();
      const applier = new Applier({ client: server, fieldManager: 'me', hashAnnotation });
      const replace = (data: Record<string, string>, known: Known<ConfigMap>) =>
        applier.replace(ConfigMap, configMap(data), known);
      return { server, replace };
    };

    test('creates an object that does not exist, with the hash, and makes no request if nothing changes', async () => {
      const { server, replace } = replacing();
      const { object, written } = await replace({ a: '1' }, { live: undefined });
      expect(written).toBe(true);
      expect(object.metadata.annotations?.[hashAnnotation]).toMatch(/^[0-9a-f]{32}$/);
      expect(await replace({ a: '1' }, { live: server.live })).toEqual({ object, written: false });
      expect(server.writes).toEqual(['POST by me']);
    });

    test('removes a field that is no longer named', async () => {
      const { server, replace } = replacing();
      await replace({ a: '1', b: '2' }, { live: undefined });
      expect((await replace({ a: '1' }, { live: server.live })).written).toBe(true);
      expect(server.live?.data).toEqual({ a: '1' });
      expect(server.writes).toEqual(['POST by me', 'PUT by me']);
    });

    test.each<[string, boolean, boolean, string[]]>([
      ['exists as expected', true, false, ['PUT by me']],
      ['is missing as expected', false, true, ['POST by me']],
      ['exists already', true, true, ['POST by me', 'PUT by me']],
      ['was deleted meanwhile', false, false, ['PUT by me', 'POST by me']],
    ])('brings about an object that %s', async (_what, exists, isNew, requests) => {
      const { server, replace } = replacing();
      if (exists) await replace({ a: '1', b: 'of others' }, { isNew: true });
      server.writes = [];
      const { object } = await replace({ a: '2' }, { isNew });
      expect(object.data).toEqual({ a: '2' });
      expect(server.writes).toEqual(requests);
    });
  });
});
