import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, TooLargeError, UnreachableError } from './api-error.ts';
import { ClusterClient } from './client.ts';
import { ConfigMap, Pod } from './resource-type.ts';

/** These tests simulate a misbehaving API server; test/api-server tests the rest against a real one. */
type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const at = { namespace: 'shop', name: 'web' };
let server: http.Server;
let answers: Answer[];
let requests: string[];
let bodies: string[];
let codes: string[];
let client: ClusterClient;

beforeEach(async () => {
  [answers, requests, codes, bodies] = [[], [], [], []];
  server = http.createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      answers.shift()?.(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = new KubeConfig();
  const cluster = { name: 'fake', server: `http://127.0.0.1:${port}/prefix/`, skipTLSVerify: true };
  config.loadFromClusterAndUser(cluster, { name: 'user', token: 'secret-token' });
  client = new ClusterClient(config, { userAgent: 'test', observe: (method, code) => codes.push(`${method} ${code}`) });
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const json =
  (status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const tooMany = json(429, { reason: 'TooManyRequests', message: 'slow down' }, { 'retry-after': '1' });
const hang: Answer = () => undefined;

test('refuses a list that is larger than permitted, without reading the rest of it', async () => {
  const list = { items: [{ metadata: { name: 'x'.repeat(1000) } }], metadata: { resourceVersion: '1' } };
  const size = Buffer.byteLength(JSON.stringify(list));
  const closed = Promise.withResolvers<undefined>();
  const endless: Answer = (_request, response) => {
    response.on('close', () => closed.resolve(undefined));
    response.writeHead(200, { 'content-type': 'application/json' }).write('['.repeat(size + 1));
  };
  answers.push(json(200, list), endless);
  expect((await client.list(ConfigMap, { maxBytes: size })).items).toHaveLength(1);
  await expect(client.list(ConfigMap, { maxBytes: size })).rejects.toThrow(TooLargeError);
  await closed.promise;
  expect(requests).toHaveLength(2);
});

test('requests only metadata where that is enough', async () => {
  const accepted: (string | undefined)[] = [];
  const noted: Answer = (request, response) => {
    accepted.push(request.headers.accept);
    json(200, { items: [], metadata: { resourceVersion: '1' } })(request, response);
  };
  answers.push(noted, noted);
  await client.list(ConfigMap, { metadataOnly: true });
  await client.list(ConfigMap);
  expect(accepted).toEqual(['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'application/json']);
  expect(requests[0]).toBe('GET /prefix/api/v1/configmaps');
});

test('sends credentials and user agent, and joins the paths', async () => {
  let seen: http.IncomingHttpHeaders = {};
  answers.push((request, response) => {
    seen = request.headers;
    json(200, { metadata: { name: 'web' } })(request, response);
  });
  await client.get(ConfigMap, at);
  expect(requests).toEqual(['GET /prefix/api/v1/namespaces/shop/configmaps/web']);
  expect(seen).toMatchObject({ authorization: 'Bearer secret-token', 'user-agent': 'test' });
});

test('escapes in an apply what YAML refuses or changes', async () => {
  answers.push(json(200, { metadata: { name: 'web' } }));
  const a = 'x\u0085y\u009b\u2028\ufeff\uffff ä';
  const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { a } };
  await client.apply(ConfigMap, object, { fieldManager: 'test' });
  expect(bodies[0]).toContain(String.raw`x\u0085y\u009b\u2028\ufeff\uffff ä`);
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ data: { a } });
});

describe('Retry-After', () => {
  test('delays the request, which is repeated with its body', async () => {
    answers.push(tooMany, json(201, { metadata: { name: 'web' } }));
    const started = Date.now();
    const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { a: 'ä' } };
    await client.create(ConfigMap, object);
    expect(Date.now() - started).toBeGreaterThanOrEqual(990);
    expect(bodies).toEqual([JSON.stringify(object), JSON.stringify(object)]);
    expect(codes).toEqual(['POST 429', 'POST 201']);
  });

  test('is ignored beyond the deadline', async () => {
    answers.push(tooMany);
    await expect(client.get(ConfigMap, at, { timeoutMs: 900 })).rejects.toMatchObject({ code: 429 });
    expect(requests).toHaveLength(1);
  });

  test('is required for another attempt after a 503', async () => {
    answers.push(json(503, {}));
    await expect(client.get(ConfigMap, at)).rejects.toMatchObject({ code: 503 });
  });

  test('can be interrupted by a signal', async () => {
    answers.push(tooMany);
    const aborting = new AbortController();
    const get = client.get(ConfigMap, at, { signal: aborting.signal });
    setTimeout(() => aborting.abort(new Error('left')), 100);
    await expect(get).rejects.toThrow('left');
  });
});

describe('conflicts', () => {
  const conflict = json(409, { reason: 'Conflict', message: 'the object has been modified' });
  const fine = json(200, { metadata: { name: 'web' } });
  const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at };
  const writes: [string, () => Promise<unknown>][] = [
    ['a creation', () => client.create(ConfigMap, object)],
    ['a forced apply', () => client.apply(ConfigMap, object, { fieldManager: 'test', force: true })],
    ['a patch', () => client.patch(ConfigMap, at, { data: { a: 'b' } })],
  ];

  test.each(writes)('are repeated with the same body: %s', async (_what, write) => {
    answers.push(conflict, conflict, fine);
    expect(await write()).toMatchObject({ metadata: { name: 'web' } });
    expect(new Set(bodies).size).toBe(1);
    expect(requests).toHaveLength(3);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['an apply that leaves others their fields', () => client.apply(ConfigMap, object, { fieldManager: 'test' })],
    ['a patch of one version', () => client.patch(ConfigMap, at, {}, { resourceVersion: '7' })],
    ['a deletion of one object', () => client.delete(ConfigMap, at, { uid: 'u' })],
  ])('are reported at once for %s', async (_what, write) => {
    answers.push(conflict, fine);
    await expect(write()).rejects.toMatchObject({ reason: 'Conflict' });
    expect(requests).toHaveLength(1);
  });

  test('are reported if they do not end', async () => {
    answers.push(conflict, conflict, conflict, conflict, fine);
    await expect(client.patch(ConfigMap, at, {})).rejects.toMatchObject({ reason: 'Conflict' });
    expect(requests).toHaveLength(4);
  });

  test('do not include an object that exists already', async () => {
    answers.push(json(409, { reason: 'AlreadyExists', message: 'there is one' }), fine);
    await expect(client.create(ConfigMap, object)).rejects.toMatchObject({ reason: 'AlreadyExists' });
    expect(requests).toHaveLength(1);
  });
});

describe('deadlines', () => {
  test('end a request without a response', async () => {
    answers.push(hang);
    await expect(client.get(ConfigMap, at, { timeoutMs: 100 })).rejects.toThrow(UnreachableError);
    expect(codes).toEqual(['GET <error>']);
  });

  test('end a response that does not end', async () => {
    answers.push((_request, response) => void response.writeHead(200).write('{'));
    await expect(client.get(ConfigMap, at, { timeoutMs: 100 })).rejects.toThrow(UnreachableError);
  });

  test('are reported with the request and without credentials', async () => {
    answers.push(hang);
    const error = await client.get(ConfigMap, at, { timeoutMs: 50 }).catch((reason: unknown) => reason);
    expect(String(error)).toContain('GET /api/v1/namespaces/shop/configmaps/web');
    expect(JSON.stringify(error)).not.toContain('secret-token');
  });

  test('do not prevent a signal from ending the request with its reason', async () => {
    answers.push(hang);
    const signal = AbortSignal.timeout(50);
    const error: unknown = await client.get(ConfigMap, at, { signal }).catch((reason: unknown) => reason);
    expect(error).toBe(signal.reason);
  });
});

describe('a bad response', () => {
  test('with text in place of a Status is an error', async () => {
    answers.push((_request, response) => response.writeHead(502).end('<html>bad gateway</html>'));
    await expect(client.get(ConfigMap, at)).rejects.toMatchObject({
      code: 502,
      statusMessage: '<html>bad gateway</html>',
    });
  });

  test('with truncated JSON is an error', async () => {
    answers.push((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":');
    });
    await expect(client.get(ConfigMap, at)).rejects.toThrow(UnreachableError);
  });

  test('is an error if nobody listens', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(client.get(ConfigMap, at)).rejects.toThrow(UnreachableError);
  });

  test('on a closed persistent connection is followed by another attempt, except for a creation', async () => {
    const fine = json(200, { metadata: { name: 'web' } });
    const cut: Answer = (request) => request.socket.destroy();
    answers.push(fine, cut, fine, fine, cut);
    await client.get(ConfigMap, at);
    await client.get(ConfigMap, at);
    await client.get(ConfigMap, at);
    const create = client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: at });
    await expect(create).rejects.toThrow(UnreachableError);
    expect(requests).toHaveLength(5);
  });
});

test('does not repeat a request whose deadline passes during a response on a persistent connection', async () => {
  answers.push(
    json(200, { metadata: { name: 'web' } }),
    (_request, response) => void response.writeHead(200).write('{'),
  );
  await client.get(ConfigMap, at);
  await expect(client.patch(ConfigMap, at, {}, { timeoutMs: 100 })).rejects.toThrow(UnreachableError);
  expect(requests).toHaveLength(2);
});

describe('a stream', () => {
  async function collect<T>(source: AsyncIterable<T>): Promise<{ items: T[]; error: unknown }> {
    const items: T[] = [];
    try {
      for await (const item of source) items.push(item);
    } catch (error) {
      return { items, error };
    }
    return { items, error: undefined };
  }

  test('of a log ends when the log does', async () => {
    answers.push((_request, response) => response.writeHead(200).end('one\ntwo'));
    const log = client.podLog(at, { container: 'app', follow: true, sinceTime: '2026-01-01T00:00:00Z' });
    expect(await collect(log)).toEqual({ items: ['one', 'two'], error: undefined });
    expect(requests[0]).toContain('/pods/web/log?container=app&follow=true&sinceTime=2026-01-01T00%3A00%3A00Z');
  });

  test('of a truncated log fails after its complete lines', async () => {
    answers.push((_request, response) => {
      response.writeHead(200).write('one\ntw');
      setTimeout(() => response.destroy(), 50);
    });
    const { items, error } = await collect(client.podLog(at, { follow: true }));
    expect(items).toEqual(['one']);
    expect(error).toBeInstanceOf(UnreachableError);
  });

  test('of a silent log fails after idleTimeoutMs', async () => {
    answers.push((_request, response) => void response.writeHead(200).write('one\n'));
    const { items, error } = await collect(client.podLog(at, { follow: true, idleTimeoutMs: 100 }));
    expect(items).toEqual(['one']);
    expect(error).toBeInstanceOf(UnreachableError);
  });

  test('does not fail because its reader is slow', async () => {
    answers.push((_request, response) => {
      response.writeHead(200).write('one\n');
      setTimeout(() => response.end('two\n'), 50);
    });
    const items: string[] = [];
    for await (const line of client.podLog(at, { follow: true, idleTimeoutMs: 100 })) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      items.push(line);
    }
    expect(items).toEqual(['one', 'two']);
  });

  test('of a log ends without an error after a signal', async () => {
    answers.push((_request, response) => void response.writeHead(200).write('one\n'));
    const stop = new AbortController();
    const lines: string[] = [];
    for await (const line of client.podLog(at, { follow: true, signal: stop.signal })) {
      lines.push(line);
      setTimeout(() => stop.abort(), 50);
    }
    expect(lines).toEqual(['one']);
  });

  test('closes its connection when its reader stops', async () => {
    const closed = Promise.withResolvers<undefined>();
    answers.push((_request, response) => {
      response.on('close', () => closed.resolve(undefined));
      response.writeHead(200).write('one\ntwo\n');
    });
    for await (const line of client.podLog(at, { follow: true })) {
      expect(line).toBe('one');
      break;
    }
    await closed.promise;
  });

  test("of a refused log fails with the API server's error", async () => {
    answers.push(json(400, { reason: 'BadRequest', message: 'container "app" is waiting to start' }));
    const { error } = await collect(client.podLog(at));
    expect(error).toBeInstanceOf(ApiError);
  });

  const watch = () => client.watch(Pod, { namespace: 'shop', resourceVersion: '7', timeoutSeconds: 300 });

  test('throws an ERROR event as an error with its Status', async () => {
    const added = { type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '8' } } };
    const error = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };
    answers.push((_request, response) => {
      response.writeHead(200).end(`${JSON.stringify(added)}\n${JSON.stringify(error)}\n`);
    });
    const result = await collect(watch());
    expect(result.items).toEqual([added]);
    expect(result.error).toMatchObject({ code: 410, reason: 'Expired' });
    expect(requests[0]).toContain('/pods?resourceVersion=7&timeoutSeconds=300&watch=true&allowWatchBookmarks=true');
  });

  test('throws a SyntaxError for an event that is not JSON', async () => {
    answers.push((_request, response) => response.writeHead(200).end('{"type":\n'));
    expect((await collect(watch())).error).toBeInstanceOf(SyntaxError);
  });
});
