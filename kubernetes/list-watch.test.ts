import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, apiErrorFrom } from './api-error.ts';
import { ClusterClient } from './client.ts';
import type { ObjectList } from './client-options.ts';
import { listAll, listWatch, type ListWatch } from './list-watch.ts';
import { ConfigMap, type KubernetesObject } from './resource-type.ts';
import { settle } from './testing/fake-clock.ts';

type List = ListWatch<string>['list'];
type Page = PromiseWithResolvers<ObjectList<string>> & Parameters<List>[0];

/** Answers each list when the test does. */
class PagedSource {
  readonly requests: Page[] = [];

  list: List = (options) => {
    const page = { ...Promise.withResolvers<ObjectList<string>>(), ...options };
    this.requests.push(page);
    return page.promise;
  };

  get tokens(): (string | undefined)[] {
    return this.requests.map((page) => page.continue);
  }

  answer(index: number, items: string[], next?: string): Promise<void> {
    this.requests[index]?.resolve({ items, resourceVersion: '7', continue: next });
    return settle();
  }
}

const gone = () => apiErrorFrom('list', 410, { reason: 'Expired', message: 'the snapshot has expired' });

describe('listAll', () => {
  let source: PagedSource;
  let all: Promise<ObjectList<string>>;
  let stopping: AbortController;

  beforeEach(() => {
    source = new PagedSource();
    stopping = new AbortController();
    all = listAll(source, stopping.signal);
  });

  test('requests a page while the one before it is read', async () => {
    source.requests[0]?.onContinue?.('second');
    expect(source.tokens).toEqual([undefined, 'second']);
    source.requests[1]?.onContinue?.('third');
    await source.answer(1, ['b'], 'third');
    await source.answer(0, ['a'], 'second');
    await source.answer(2, ['c']);
    expect(await all).toEqual({ items: ['a', 'b', 'c'], resourceVersion: '7' });
    expect(source.tokens).toEqual([undefined, 'second', 'third']);
  });

  test('requests a page afterwards if its token was not found', async () => {
    await source.answer(0, ['a'], 'second');
    await source.answer(1, ['b']);
    expect(await all).toEqual({ items: ['a', 'b'], resourceVersion: '7' });
  });

  test('reads only pages that the one before it names, and ends other requests', async () => {
    source.requests[0]?.onContinue?.('wrong');
    await source.answer(1, ['wrong']);
    await source.answer(0, ['a'], 'second');
    source.requests[2]?.onContinue?.('unneeded');
    await source.answer(2, ['b']);
    expect(await all).toEqual({ items: ['a', 'b'], resourceVersion: '7' });
    expect(source.tokens).toEqual([undefined, 'wrong', 'second', 'unneeded']);
    expect(source.requests[3]?.signal.aborted).toBe(true);
  });

  test('lists all at once if a page that was requested ahead has expired', async () => {
    source.requests[0]?.onContinue?.('second');
    source.requests[1]?.reject(gone());
    await source.answer(0, ['a'], 'second');
    expect(source.tokens).toEqual([undefined, 'second', undefined]);
    await source.answer(2, ['a', 'b']);
    expect((await all).items).toEqual(['a', 'b']);
  });

  test('fails with the first failure, whatever became of the page that was requested ahead', async () => {
    source.requests[0]?.onContinue?.('second');
    source.requests[1]?.reject(new Error('unseen'));
    source.requests[0]?.reject(gone());
    await expect(all).rejects.toThrow(ApiError);
    await settle();
  });

  test('ends all requests when it is stopped', async () => {
    source.requests[0]?.onContinue?.('second');
    stopping.abort(new Error('stopped'));
    expect(source.requests.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    source.requests[0]?.reject(stopping.signal.reason);
    await expect(all).rejects.toThrow('stopped');
  });
});

describe('through the client', () => {
  let server: http.Server;
  let client: ClusterClient;
  let connections = 0;
  const requested: string[] = [];

  beforeEach(async () => {
    server = http.createServer(({ url = '' }, response) => {
      requested.push(url);
      const page = Number(new URL(url, 'http://fake').searchParams.get('continue') ?? 0);
      const items = [0, 1].map((of) => ({ metadata: { name: `m${page}-${of}`, resourceVersion: '3' } }));
      const metadata = { resourceVersion: '7', ...(page < 5 && { continue: String(page + 1), remainingItemCount: 1 }) };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata, items }));
    });
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    client = new ClusterClient({
      getCurrentCluster: () => ({ server: `http://127.0.0.1:${port}` }),
      applyToHTTPSOptions: () => undefined,
    });
  });

  afterEach(async () => {
    client.close();
    await new Promise((resolve) => server.close(resolve));
  });

  test('each page is requested once, with the token of the one before it, over at most two connections', async () => {
    const source = listWatch<KubernetesObject>(client, ConfigMap, { namespace: 'shop' });
    const early: string[] = [];
    const list: typeof source.list = async ({ onContinue, ...options }) => {
      let isRead = false;
      const page = await source.list({
        ...options,
        onContinue: (token) => {
          if (!isRead) early.push(token);
          onContinue?.(token);
        },
      });
      isRead = true;
      return page;
    };
    const { items, resourceVersion } = await listAll({ list }, new AbortController().signal);
    expect(resourceVersion).toBe('7');
    expect(items.map(({ metadata }) => metadata.name)).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((page) => [`m${page}-0`, `m${page}-1`]),
    );
    expect(early).toEqual(['1', '2', '3', '4', '5']);
    expect(requested).toHaveLength(6);
    expect(connections).toBeLessThanOrEqual(2);
  });
});
