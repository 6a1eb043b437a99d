import { request } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Unavailable } from '../shared/errors.ts';
import { AccessServer } from './access-server.ts';
import type { ForwardedRequest } from './forwarded-request.ts';
import type { GateAnswer } from './gate.ts';

let server: AccessServer | undefined;
afterEach(() => server?.stop());

async function ask(answer: GateAnswer | Error, path = '/forward-auth', headers: Record<string, string> = {}) {
  const asked: (string | undefined)[][] = [];
  const decide = (what: string) => (request: ForwardedRequest | undefined, id?: string) => {
    asked.push([what, request?.host, ...(id === undefined ? [] : [id])]);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const logged: unknown[] = [];
  const gate = { answer: decide('answer'), check: decide('check') };
  server = new AccessServer({ gate, logger: { error: (error) => logged.push(error) } });
  const port = await server.start(0);
  const described = { 'x-forwarded-host': 'a.env.example', 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/' };
  const options = { headers: { ...described, connection: 'close', ...headers }, redirect: 'manual' } as const;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, options);
  return { response, text: await response.text(), logged, asked };
}

test('passes with the cookies that the environment receives', async () => {
  const { response } = await ask({ kind: 'pass', cookies: 'a=1; b=2' });
  expect([response.status, response.headers.get('cookie')]).toEqual([200, 'a=1; b=2']);
});

test('passes without cookies, which the Ingress controller then removes', async () => {
  expect((await ask({ kind: 'pass', cookies: undefined })).response.headers.has('cookie')).toBe(false);
});

test('redirects without naming the address to anybody', async () => {
  const setCookies = ['one=1; Path=/', 'two=2; Path=/'];
  const { response } = await ask({ kind: 'redirect', location: 'https://coppice.example/access?x', setCookies });
  expect([response.status, response.headers.get('location')]).toEqual([303, 'https://coppice.example/access?x']);
  expect(response.headers.getSetCookie()).toEqual(setCookies);
  expect([response.headers.get('referrer-policy'), response.headers.get('cache-control')]).toEqual([
    'no-referrer',
    'no-store',
  ]);
});

test.each([
  ['application/json', {}],
  ['text/html; charset=utf-8', { accept: 'text/html' }],
])('refuses as %s', async (type, headers) => {
  const { response, text } = await ask({ kind: 'refuse', status: 401, message: 'no' }, '/forward-auth', headers);
  expect([response.status, response.headers.get('content-type')]).toEqual([401, type]);
  expect(text).toContain('no');
  expect(response.headers.get('content-security-policy')).toBe("default-src 'none'");
});

test('answers 503 while it cannot decide, and logs only what is not expected', async () => {
  const expected = await ask(new Unavailable('Redis does not respond'));
  expect([expected.response.status, expected.logged]).toEqual([503, []]);
  await server?.stop();
  const fault = new Error('a defect');
  const unexpected = await ask(fault);
  expect([unexpected.response.status, unexpected.logged]).toEqual([503, [{ err: fault }]]);
  expect(unexpected.text).not.toContain('defect');
});

test('has no other path', async () => {
  expect((await ask({ kind: 'pass', cookies: undefined }, '/')).response.status).toBe(404);
});

describe('asked by ingress-nginx', () => {
  const path = '/ingress-nginx/acme.shop-main';
  const headers = { 'x-original-url': 'http://b.env.example/a?b', 'x-original-method': 'GET', accept: 'text/html' };
  const redirect = { kind: 'redirect', location: 'https://coppice.example/access', setCookies: ['one=1'] } as const;

  test('decides about the environment that the URL names, and ignores the headers of Traefik', async () => {
    const { response, asked } = await ask({ kind: 'pass', cookies: 'a=1' }, path, headers);
    expect([response.status, response.headers.get('cookie')]).toEqual([200, 'a=1']);
    expect(asked).toEqual([['check', 'b.env.example', 'acme.shop-main']]);
    await server?.stop();
    expect((await ask({ kind: 'pass', cookies: undefined }, path)).asked).toEqual([
      ['check', undefined, 'acme.shop-main'],
    ]);
  });

  // nginx understands these two, and answers anything else with 500.
  test.each<[string, GateAnswer | Error, number]>([
    ['sends to the gate', redirect, 401],
    ['refuses who cannot log in', { kind: 'refuse', status: 401, message: 'no' }, 403],
    ['refuses', { kind: 'refuse', status: 403, message: 'no' }, 403],
    ['cannot decide', new Unavailable('Redis does not respond'), 503],
  ])('%s', async (_what, answer, status) => {
    const { response } = await ask(answer, path, headers);
    expect([response.status, response.headers.getSetCookie(), response.headers.get('location')]).toEqual([
      status,
      [],
      null,
    ]);
  });
});

describe('at the path of the gate', () => {
  test('answers the visitor itself', async () => {
    const answer = { kind: 'redirect', location: 'https://coppice.example/access', setCookies: ['one=1'] } as const;
    const { response, asked } = await ask(answer, '/.coppice/access?rd=%2F');
    expect([response.status, response.headers.getSetCookie()]).toEqual([303, ['one=1']]);
    expect(asked).toEqual([['answer', '127.0.0.1']]);
  });

  test('leads to a public environment, and returns no cookie of the request', async () => {
    const { response } = await ask({ kind: 'pass', cookies: 'a=1' }, '/.coppice/access?rd=%2F');
    expect([response.status, response.headers.get('location'), response.headers.has('cookie')]).toEqual([
      303,
      '/',
      false,
    ]);
  });

  test.each(['/.coppice/accessx', '/.coppice/%61ccess', '/x/../.coppice/access', '//.coppice/access'])(
    'is not %s',
    async (path) => {
      const port = await startedServer();
      expect(await statusOf(port, path)).toBe(404);
    },
  );
});

async function startedServer(): Promise<number> {
  const decide = () => Promise.resolve({ kind: 'pass', cookies: undefined } as const);
  server = new AccessServer({ gate: { answer: decide, check: decide }, logger: { error: () => undefined } });
  return server.start(0);
}

/** fetch() would normalize the path. */
function statusOf(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
