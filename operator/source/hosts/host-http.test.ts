import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { AddressNotAllowedError, createSend } from '../network/send.ts';
import { portOf } from '../network/addresses.ts';
import { HostBusyError, SourceUnreachableError } from '../errors.ts';
import { describeRetried } from '../../shared/conditions.ts';
import { EtagCache } from './etag-cache.ts';
import { HostHttp } from './host-http.ts';
import { listSchema } from './list-schema.ts';
import { localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

const schema = z.object({ name: z.string() });
let local: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
});

afterEach(() => local.close());

const get = (token = 'a', path = '/x') => ({
  method: 'GET' as const,
  url: new URL(local.url + path),
  headers: { authorization: token },
});

test('reuses the former response with its headers if nothing has changed', async () => {
  const http = localHttp([local]);
  local.answer((request, response) => {
    if (request.headers['if-none-match'] === '"1"') return response.writeHead(304).end();
    sendJson(response, { name: 'shop', secret: 'x' }, { etag: '"1"', link: '</y>; rel="next"' });
  });
  for (let time = 0; time < 3; time++) {
    const { value, headers } = await http.request(get(), schema);
    expect({ value, headers }).toEqual({ value: { name: 'shop' }, headers: { link: '</y>; rel="next"' } });
  }
  expect(local.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"']);
});

test('requests again what was cached without the fields needed now', async () => {
  const http = localHttp([local]);
  local.answer((request, response) => {
    if (request.headers['if-none-match'] !== undefined) return response.writeHead(304).end();
    sendJson(response, { name: 'shop', id: 7 }, { etag: '"1"' });
  });
  await http.request(get(), schema);
  expect((await http.request(get(), z.object({ id: z.int() }))).value).toEqual({ id: 7 });
});

test('does not share responses between tokens', async () => {
  const http = localHttp([local]);
  local.answer((request, response) => {
    if (request.headers['if-none-match'] !== undefined) return response.writeHead(304).end();
    sendJson(response, { name: request.headers.authorization }, { etag: '"1"' });
  });
  expect((await http.request(get('a'), schema)).value).toEqual({ name: 'a' });
  expect((await http.request(get('b'), schema)).value).toEqual({ name: 'b' });
  expect((await http.request(get('a'), schema)).value).toEqual({ name: 'a' });
});

test('replaces a cached response by a changed one', async () => {
  const http = localHttp([local]);
  let revision = 1;
  local.answer((request, response) => {
    const etag = `"${revision}"`;
    if (request.headers['if-none-match'] === etag) return response.writeHead(304).end();
    sendJson(response, { name: String(revision) }, { etag });
  });
  const names: string[] = [];
  for (revision of [1, 1, 2, 2]) names.push((await http.request(get(), schema)).value.name);
  expect(names).toEqual(['1', '1', '2', '2']);
});

test('sends a write with its body and without a condition', async () => {
  const http = localHttp([local]);
  local.answer((_, response) => sendJson(response, { name: 'made' }, { etag: '"1"' }, 201));
  const request = { ...get(), method: 'POST' as const, body: { a: 1 } };
  for (let time = 0; time < 2; time++) await http.request(request, schema);
  expect(local.requests).toMatchObject([
    { line: 'POST /x', body: { a: 1 }, headers: { 'content-type': 'application/json' } },
    { line: 'POST /x', body: { a: 1 } },
  ]);
  expect(local.requests[1]?.headers).not.toHaveProperty('if-none-match');
});

test('sends nothing with a token to a host that has limited it, until the limit ends', async () => {
  let seconds = 0;
  const http = new HostHttp({
    send: createSend({ timeoutMs: 2000 }),
    ports: [portOf(new URL(local.url))],
    now: () => new Date(seconds * 1000),
    random: () => 0,
  });
  local.answer((request, response) => {
    if (request.headers.authorization === 'a' && seconds < 30) response.writeHead(429, { 'retry-after': '30' }).end();
    else sendJson(response, { name: 'shop' });
  });
  await expect(http.request(get(), schema)).rejects.toMatchObject({ retryAfterMs: 30_000 });
  seconds = 10;
  await expect(http.request(get('a', '/y'), schema)).rejects.toMatchObject({ retryAfterMs: 20_000 });
  await expect(http.do({ ...get('a', '/z'), method: 'DELETE' })).rejects.toBeInstanceOf(HostBusyError);
  expect(local.requests).toHaveLength(1);
  expect((await http.request(get('b'), schema)).value).toEqual({ name: 'shop' });
  seconds = 30;
  expect((await http.request(get(), schema)).value).toEqual({ name: 'shop' });
});

test('requests no compressed response', async () => {
  local.answer((_, response) => sendJson(response, { name: 'x' }));
  await localHttp([local]).request(get(), schema);
  expect(local.requests[0]?.headers['accept-encoding']).toBe('identity');
});

test('reports a hang in words that stay the same during the backoff', async () => {
  local.answer(() => undefined);
  const hang = localHttp([local], 150).request(get(), schema);
  const words = await hang.then(() => undefined, describeRetried);
  expect(words).toBe(`${new URL(local.url).host} did not respond in time. Coppice retries this`);
});

test('says how to permit a private address that it refuses', async () => {
  const send = () => Promise.reject(new AddressNotAllowedError('git.example is at a private address'));
  const http = new HostHttp({ send, ports: [443], now: () => new Date() });
  const request = { method: 'GET' as const, url: new URL('https://git.example/x'), headers: {} };
  await expect(http.request(request, schema)).rejects.toMatchObject({
    reason: 'AddressRefused',
    message: expect.stringContaining('sources.allowedCidrs'),
  });
});

describe('EtagCache', () => {
  const answer = (size: number) => ({ etag: '"1"', headers: {}, text: 'x'.repeat(size) });

  test('removes the least recently used entries', () => {
    const cache = new EtagCache(4000);
    cache.set('a', answer(500));
    cache.set('b', answer(500));
    cache.get('a');
    cache.set('c', answer(500));
    cache.set('d', answer(500));
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd']);
    for (const key of ['c', 'c', 'd', 'd']) cache.set(key, answer(500));
    expect(['a', 'c', 'd'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd']);
  });

  test('does not keep an entry that exceeds its size', () => {
    const cache = new EtagCache(1000);
    cache.set('a', answer(10));
    cache.set('big', answer(1000));
    expect(cache.get('big')).toBeUndefined();
    expect(cache.get('a')).toBeDefined();
  });
});

describe('a harmful response', () => {
  const megabytes = 1024 * 1024;
  const list = listSchema(schema, 100);

  test.each([
    ['values without end', `[${'0,'.repeat(megabytes)}0]`, /more values than Coppice reads/],
    ['lists in lists without end', '['.repeat(3 * megabytes), /more values than Coppice reads/],
    ['more items than a page has', `[${'0,'.repeat(100_000)}0]`, /unexpected JSON at the whole/],
    ['wrong items', `[${'0,'.repeat(50)}0]`, /unexpected JSON at 0 /],
  ])('is refused before it is parsed: %s', async (_, text, expected) => {
    local.answer((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text));
    await expect(localHttp([local]).request({ ...get(), isLong: true }, list)).rejects.toThrow(expected);
  });

  test('can have megabytes only as a list', async () => {
    const name = 'x'.repeat(5 * megabytes);
    local.answer((request, response) => sendJson(response, request.url === '/list' ? [{ name }] : { name }));
    const http = new HostHttp({
      send: createSend({ timeoutMs: 5000, maxBytes: 16 * megabytes }),
      ports: [Number(new URL(local.url).port)],
      now: () => new Date(),
    });
    await expect(http.request(get(), schema)).rejects.toThrow(SourceUnreachableError);
    expect((await http.request({ ...get('a', '/list'), isLong: true }, list)).value).toHaveLength(1);
  });
});
