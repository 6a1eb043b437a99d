import { afterEach, expect, test } from '@jest/globals';
import { Unavailable } from '../shared/errors.ts';
import { AccessServer } from './access-server.ts';
import type { GateAnswer } from './gate.ts';

let server: AccessServer | undefined;
afterEach(() => server?.stop());

async function ask(answer: GateAnswer | Error, path = '/forward-auth', headers: Record<string, string> = {}) {
  const decide = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
  const logged: unknown[] = [];
  server = new AccessServer({ gate: { answer: decide }, logger: { error: (error) => logged.push(error) } });
  const port = await server.start(0);
  const described = { 'x-forwarded-host': 'a.env.example', 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/' };
  const options = { headers: { ...described, connection: 'close', ...headers }, redirect: 'manual' } as const;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, options);
  return { response, text: await response.text(), logged };
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
