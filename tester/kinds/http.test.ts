import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Environments } from '../network/environments.ts';
import { MAX_BYTES } from '../network/get.ts';
import { httpTest } from './http.ts';
import { CouldNotRun } from '../test-types/kind.ts';
import { testOf } from '../test-types/test.ts';

let server: Server;
let environments: Environments;
let url: string;
const asked: string[] = [];

const answers: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {
  '/': (response) => void response.end('Hello from the shop'),
  '/gone': (response) => void response.writeHead(404).end('nothing'),
  '/moved': (response) => void response.writeHead(302, { location: '/' }).end(),
  '/loop': (response) => void response.writeHead(302, { location: '/loop' }).end(),
  '/away': (response) => void response.writeHead(302, { location: 'http://evil.example/' }).end(),
  '/inside': (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  '/port': (response) => void response.writeHead(302, { location: 'http://shop--acme.env.localhost:6379/' }).end(),
  '/other': (response, { headers }) =>
    void response.writeHead(302, { location: `http://${(headers.host ?? '').replace('acme', 'other')}/` }).end(),
  '/alias': (response, { headers }) =>
    void response.writeHead(302, { location: `http://admin---${headers.host ?? ''}/` }).end(),
  '/hangs': () => undefined,
  '/breaks': (response) => void response.socket?.destroy(),
  '/endless': (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
};

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    const answer = answers[(request.url ?? '').split('?')[0] ?? ''];
    if (answer) answer(response, request);
    else response.end('other');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  environments = new Environments(`http://env.localhost:${port}`);
  url = `http://shop--acme.env.localhost:${port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Resolves names of environments to the server; no other name is looked up. */
const lookup: LookupFunction = (host, options, answer) => {
  if (!host.endsWith('.env.localhost')) throw new Error(`${host} was looked up`);
  if (options.all) answer(null, [{ address: '127.0.0.1', family: 4 }]);
  else answer(null, '127.0.0.1', 4);
};

async function run(params: object, signal = new AbortController().signal, endBy = Infinity, step = 5) {
  let time = 0;
  const tested = testOf(httpTest({ environments, lookup, now: () => (time += step) }));
  const { passed, summary, items } = await tested.run({ url, ...params }, { signal, endBy });
  const reported = items.map(({ Label, Type, Content }) => [Label, Type, Buffer.from(Content, 'base64').toString()]);
  return { passed, summary, items: reported };
}

test('expects status 200 of / by default', async () => {
  expect(await run({})).toEqual({
    passed: true,
    summary: '1 path as expected',
    items: [
      ['time /', 'number', '5'],
      ['status /', 'number', '200'],
    ],
  });
});

test('reports each path, and all faults', async () => {
  const paths = [
    { path: '/', text: 'the shop' },
    { path: '/gone' },
    { path: '/', text: 'the garden' },
    { path: '/x?y=1' },
  ];
  const { passed, summary, items } = await run({ paths });
  expect(passed).toBe(false);
  expect(summary).toBe('/gone: status 404 instead of 200; /: the response lacks the text "the garden"');
  expect(items.slice(-2)).toEqual([
    ['fault 1', 'string', '/gone: status 404 instead of 200'],
    ['fault 2', 'string', '/: the response lacks the text "the garden"'],
  ]);
});

describe('a path', () => {
  test.each([
    [{ path: '/gone', status: 404 }, true, '1 path as expected'],
    [{ path: '/moved', text: 'Hello' }, true, '1 path as expected'],
    [{ path: '/moved', status: 302 }, true, '1 path as expected'],
    [{ path: '/away', status: 302 }, true, '1 path as expected'],
    [{ path: '/loop' }, false, '/loop: it redirects more than 5 times. Check the redirects for a loop'],
    [
      { path: '/away' },
      false,
      '/away: it redirects to http://evil.example, which is outside this environment. Correct the redirect',
    ],
    [
      { path: '/inside' },
      false,
      '/inside: it redirects to http://127.0.0.1:1, which is outside this environment. Correct the redirect',
    ],
    [
      { path: '/port' },
      false,
      '/port: it redirects to http://shop--acme.env.localhost:6379, which is outside this environment. Correct the redirect',
    ],
    [{ path: '/alias', text: 'Hello' }, true, '1 path as expected'],
    [{ path: '/breaks' }, false, '/breaks: the connection failed (ECONNRESET). Read the log of its service'],
    [{ path: '/endless', text: 'xxx' }, true, '1 path as expected'],
    [{ path: '//evil.example/' }, true, '1 path as expected'],
  ])('%j: %s', async (wanted, passed, summary) => {
    expect(await run({ paths: [wanted] })).toMatchObject({ passed, summary });
  });
});

test('does not follow a redirect to another environment', async () => {
  asked.length = 0;
  const { passed, summary } = await run({ paths: [{ path: '/other' }] });
  expect(passed).toBe(false);
  expect(summary).toMatch(
    /it redirects to http:\/\/shop--other\.env\.localhost:\d+, which is outside this environment/,
  );
  expect(asked).toEqual([`${new URL(url).host}/other`]);
});

test('does not let a path name another host', async () => {
  asked.length = 0;
  await run({ paths: [{ path: '//evil.example/' }, { path: '/@evil.example' }] });
  expect(asked).toEqual([`${new URL(url).host}//evil.example/`, `${new URL(url).host}/@evil.example`]);
});

test('reads a limited part of the body', async () => {
  const { items } = await run({ paths: [{ path: '/endless', text: 'x'.repeat(1000) }] });
  expect(items).toHaveLength(2);
  expect(MAX_BYTES).toBe(1024 * 1024);
});

test('reports a path that hangs as a fault, and requests the next one', async () => {
  const paths = [{ path: '/hangs' }, { path: '/' }];
  expect(await run({ paths, timeoutSeconds: 1 })).toMatchObject({
    passed: false,
    summary: '/hangs: it did not respond in time. Raise timeoutSeconds, or make it faster',
    items: [
      ['time /', 'number', '5'],
      ['status /', 'number', '200'],
      ['fault 1', 'string', '/hangs: it did not respond in time. Raise timeoutSeconds, or make it faster'],
    ],
  });
});

test('reports before the deadline what was found, and what was not requested', async () => {
  const paths = [{ path: '/gone' }, { path: '/hangs' }, { path: '/' }, { path: '/x' }];
  // The clock advances by 500 ms at each reading, so that /hangs has 400 ms, and / none.
  const { passed, summary } = await run({ paths }, new AbortController().signal, 1900, 500);
  expect(passed).toBe(false);
  expect(summary.split('; ')).toEqual([
    '/gone: status 404 instead of 200',
    '/hangs: it did not respond in time. Raise timeoutSeconds, or make it faster',
    '/: not requested, because the test has no time left. Check fewer paths',
    '/x: not requested, because the test has no time left. Check fewer paths',
  ]);
});

test('ends with the deadline of the run', async () => {
  const deadline = new AbortController();
  const ran = run({ paths: [{ path: '/hangs' }] }, deadline.signal);
  deadline.abort(new CouldNotRun('too late'));
  await expect(ran).rejects.toThrow('too late');
});

test('cannot run if the Ingress controller is not reached', async () => {
  const unreached = testOf(
    httpTest({ environments: new Environments('http://env.localhost:9'), lookup, now: () => 0 }),
  );
  const ran = unreached.run(
    { url: 'http://shop--acme.env.localhost:9/' },
    {
      signal: new AbortController().signal,
      endBy: Infinity,
    },
  );
  await expect(ran).rejects.toThrow('the Ingress controller was not reached (ECONNREFUSED)');
});

test.each([
  [{ paths: [] }, /^params\.paths: /],
  [{ paths: [{ path: 'no-slash' }] }, 'params.paths.0.path: must start with /'],
  [{ paths: [{ path: '/', statuses: 1 }] }, /statuses/],
  [{ paths: [{ path: '/', status: 'ok' }] }, /^params\.paths\.0\.status: /],
  [{ timeoutSeconds: 3600 }, /^params\.timeoutSeconds: /],
])('refuses the params %j', (params, message) => {
  const { check } = testOf(httpTest({ environments, now: () => 0 }));
  expect(() => check({ url, ...params })).toThrow(message);
});
