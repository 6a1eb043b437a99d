import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AccessServer } from '../../api/environment-access/access-server.ts';
import { AccessCodes } from '../../api/environment-access/codes.ts';
import { HostCookies } from '../../api/environment-access/cookies.ts';
import { Gate } from '../../api/environment-access/gate.ts';
import type { AccessTarget } from '../../api/environment-access/hosts.ts';
import { FakeRedis } from '../../api/testing/fake-redis.ts';
import type { Environment } from '../../crds/environment.ts';
import { ACCESS_HEADER, sealAccess } from '../../environment-access/tokens.ts';
import { gateIngress } from '../../operator/services/objects/access.ts';
import { ingress } from '../../operator/services/objects/ingress.ts';
import {
  sampleContext,
  sampleService,
  SAMPLE_SETTINGS,
} from '../../operator/services/objects/testing/sample-context.ts';
import { send } from '../client/local-http.ts';
import { startNginx, type TestNginx } from './start-nginx.ts';

/**
 * A real nginx asks the API's server about each request, with the directives that ingress-nginx 1.15 generates from the
 * annotations (rootfs/etc/nginx/template/nginx.tmpl), except `set_escape_uri`, which needs another module.
 */

const domain = 'env.localhost';
const hostOf = (name: string) => `${name}--acme.${domain}`;
const [own, other, open] = [hostOf('shop-main'), hostOf('shop-other'), hostOf('shop-public')];
const keys = [{ createdAt: Math.floor(Date.now() / 1000) - 3600, key: randomBytes(32) }];
const at = () => Math.floor(Date.now() / 1000);
const grant = { kind: 'link', user: 'u', account: 'a' } as const;
const tokenOf = (environment: string) =>
  sealAccess({ use: 'environment', host: '', environment, grant, expiresAt: at() + 600 }, keys, at());
const html = { accept: 'text/html' };

let access: AccessServer;
let application: Server;
let nginx: TestNginx;
let isDown = false;
const codes = new AccessCodes(new FakeRedis(Date.now), randomBytes);
/** Requests that the application has received. */
let received: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];

const targetOf = (name: string, mode = 'members') => {
  const environment = { metadata: { namespace: 'group-acme', name, uid: name } } as Environment;
  return { environment, access: { mode, from: 'repository' } } as AccessTarget;
};
const targets = new Map([
  [own, targetOf('shop-main')],
  [other, targetOf('shop-other')],
  [open, targetOf('shop-public', 'public')],
]);

beforeAll(async () => {
  const gate = new Gate({
    hosts: {
      find: (host) => targets.get(host),
      hostsOf: ({ metadata }) => new Set([hostOf(metadata.name)]),
      urlOf: (host, path) => `http://${host}${path}`,
    },
    grants: { isValid: () => (isDown ? Promise.reject(new Error('a defect')) : Promise.resolve(true)) },
    codes,
    cookies: new HostCookies(false),
    keys: () => keys,
    ownOrigin: 'http://coppice.localhost',
    now: Date.now,
    randomBytes,
  });
  access = new AccessServer({ gate, logger: { error: () => undefined } });
  const accessPort = await access.start(0);
  application = createServer(({ url, headers }, response) => {
    received.push({ url, headers });
    response.writeHead(url === '/login' ? 401 : 200).end('the page');
  });
  application.on('upgrade', ({ url, headers }, socket) => {
    received.push({ url, headers });
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  });
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const { port } = application.address() as AddressInfo;
  nginx = await startNginx((listens) =>
    ['shop-main', 'shop-other', 'shop-public']
      .map((name) => serverOf(name, listens, { accessPort, applicationPort: port }))
      .join('\n'),
  );
}, 30_000);

afterAll(async () => {
  await nginx.stop();
  await access.stop();
  application.closeAllConnections();
  await new Promise((resolve) => application.close(resolve));
});

beforeEach(() => {
  received = [];
  isDown = false;
});

/** Returns the block that ingress-nginx generates from the Ingresses of an environment. */
function serverOf(
  name: string,
  port: number,
  { accessPort, applicationPort }: { accessPort: number; applicationPort: number },
): string {
  const enforcement = { by: 'ingress-nginx', host: `127.0.0.1:${accessPort}` } as const;
  const settings = {
    ...SAMPLE_SETTINGS,
    environmentsUrl: new URL(`http://${domain}:${port}`),
    ingress: { ...SAMPLE_SETTINGS.ingress, enforcement },
    waker: { namespace: 'coppice-system', podLabels: {}, image: 'coppice' },
  };
  const id = { group: 'acme', name };
  const publicRoutes = [{ service: 'api', port: 80, path: '/' }];
  const mode = name === 'shop-public' ? 'public' : 'members';
  const context = sampleContext({ services: [sampleService()], publicRoutes }, { access: mode, id, settings });
  const { annotations = {} } = ingress(context)?.metadata ?? {};
  const of = (annotation: string) => annotations[`nginx.ingress.kubernetes.io/${annotation}`] ?? '';
  const gatePath = gateIngress(context)?.spec?.rules?.[0]?.http?.paths[0]?.path ?? '';
  const toUpstream = `
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_http_version 1.1;`;
  const headers = of('auth-response-headers')
    .split(',')
    .map((header) => header.trim())
    .filter((header) => header !== '');
  return `  server {
    listen 127.0.0.1:${port};
    server_name ${hostOf(name)};
    location = /_external-auth {
      internal;
      proxy_intercept_errors off;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Forwarded-Proto "";
      proxy_set_header Host ${new URL(of('auth-url')).host};
      proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Sent-From "nginx-ingress-controller";
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Auth-Request-Redirect $request_uri;
      proxy_http_version 1.1;
      set $target "${of('auth-url')}";
      proxy_pass $target;
    }
${
  of('auth-signin') &&
  `    location @signin {
      internal;
      add_header Set-Cookie $auth_cookie;
      return 302 ${of('auth-signin')};
    }`
}
    location / {
      auth_request /_external-auth;
      auth_request_set $auth_cookie $upstream_http_set_cookie;
      add_header Set-Cookie $auth_cookie;
      ${headers
        .map(
          (
            header,
            at,
          ) => `auth_request_set $authHeader${at} $upstream_http_${header.toLowerCase().replaceAll('-', '_')};
      proxy_set_header '${header}' $authHeader${at};`,
        )
        .join('\n      ')}
      set $escaped_request_uri $request_uri;
      ${of('auth-signin') && 'error_page 401 = @signin;'}
      ${of('satisfy') && `satisfy ${of('satisfy')};`}${toUpstream}
      proxy_pass http://127.0.0.1:${applicationPort};
    }
${
  gatePath &&
  `    location = ${gatePath} {${toUpstream}
      set $upstream http://127.0.0.1:${accessPort};
      proxy_pass $upstream;
    }`
}
  }`;
}

const get = (headers: Record<string, string> = {}, path = '/page?x=1', method = 'GET') =>
  send(`http://127.0.0.1:${nginx.port}${path}`, { method, headers: { host: `${own}:${nginx.port}`, ...headers } });

/** Sends bytes, and returns the first line of the response. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port: nginx.port, timeout: 10_000 });
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('data', () => {
      if (text.includes('\r\n')) socket.destroy();
    });
    socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
    socket.on('timeout', () => socket.destroy(new Error('no response')));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

describe('a token in the header', () => {
  test('opens its environment, and does not reach the services', async () => {
    const headers = { [ACCESS_HEADER]: tokenOf('shop-main'), cookie: 'a=1; coppice-access=x' };
    expect((await get(headers, '/page?x=1', 'POST')).text).toBe('the page');
    expect(received).toHaveLength(1);
    expect(received[0]?.url).toBe('/page?x=1');
    expect([received[0]?.headers.cookie, received[0]?.headers[ACCESS_HEADER]]).toEqual(['a=1', undefined]);
    await get({ [ACCESS_HEADER]: tokenOf('shop-main'), cookie: 'coppice-access=x' });
    expect(received[1]?.headers.cookie).toBeUndefined();
  });

  test('leaves the 401 of a service alone', async () => {
    expect((await get({ ...html, [ACCESS_HEADER]: tokenOf('shop-main') }, '/login')).status).toBe(401);
  });

  test('opens no other environment', async () => {
    expect((await get({ [ACCESS_HEADER]: tokenOf('shop-other') })).status).toBe(403);
    expect(received).toEqual([]);
  });
});

test('a visitor logs in by the gate of the host, and returns to the page', async () => {
  const first = await get(html);
  expect([first.status, first.headers['set-cookie']]).toEqual([302, undefined]);
  const gate = new URL(first.headers.location ?? '');
  expect(gate.host).toBe(`${own}:${nginx.port}`);
  const signIn = await get(html, `${gate.pathname}${gate.search}`);
  expect(signIn.status).toBe(303);
  const visit = new URL(signIn.headers.location ?? '');
  expect([visit.origin, visit.searchParams.get('host'), visit.searchParams.get('path')]).toEqual([
    'http://coppice.localhost',
    own,
    '/page?x=1',
  ]);
  const granted = { host: own, environment: 'shop-main', path: '/page?x=1', grant };
  const code = await codes.issue(granted, visit.searchParams.get('challenge') ?? '');
  const start = signIn.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const entered = await get({ ...html, cookie: start }, `/.coppice/access?code=${code}`);
  expect([entered.status, entered.headers.location]).toEqual([303, `http://${own}/page?x=1`]);
  const cookie = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  expect((await get({ ...html, cookie: `${cookie}; a=1` })).text).toBe('the page');
  expect(received.map(({ headers }) => headers.cookie)).toEqual(['a=1']);
  // The cookie is for that host alone.
  expect((await get({ ...html, cookie, host: other })).status).toBe(302);
  expect(received).toHaveLength(1);
});

test('a link opens the environment by the gate', async () => {
  const query = new URLSearchParams({ token: tokenOf('shop-main'), path: '/page' }).toString();
  const entered = await get(html, `/.coppice/access?${query}`);
  expect([entered.status, entered.headers.location]).toEqual([303, `http://${own}/page`]);
  expect(entered.headers['set-cookie']?.[0]).toMatch(
    /^coppice-access=.*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
  );
});

describe('a stranger', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['a program', {}, '/', 'GET'],
    ['a form', html, '/', 'POST'],
    ['OPTIONS', {}, '/', 'OPTIONS'],
    [
      'the description of another request',
      { 'x-original-url': `http://${other}/`, 'x-original-method': 'OPTIONS' },
      '/',
      'GET',
    ],
    ['the headers of Traefik', { 'x-forwarded-host': other, 'x-forwarded-uri': '/.coppice/access' }, '/', 'GET'],
    ['the path of another check', {}, '/ingress-nginx/acme.shop-main', 'GET'],
    ['the path of the check', {}, '/_external-auth', 'GET'],
    ['a path of nobody', {}, '/.well-known/acme-challenge/x', 'GET'],
    ['a path below the gate', {}, '/.coppice/access/x', 'GET'],
  ])('is refused with %s', async (_what, headers, path, method) => {
    expect([403, 404]).toContain((await get(headers, path, method)).status);
    expect(received).toEqual([]);
  });

  test('with the token of another environment cannot name two hosts', async () => {
    const token = `${ACCESS_HEADER}: ${tokenOf('shop-other')}\r\n`;
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    for (const bytes of [
      // nginx routes by the request line, and describes the header Host.
      `GET http://${own}/page HTTP/1.1\r\nHost: ${other}\r\n${token}\r\n`,
      `GET http://${own}/page HTTP/1.1\r\nHost: ${other}\r\n${token}${upgrade}\r\n`,
      `GET /page HTTP/1.1\r\nHost: ${own}\r\nHost: ${other}\r\n${token}\r\n`,
      `GET /page HTTP/1.1\r\nHost: ${own}\r\n${token}${upgrade}\r\n`,
      `GET /page HTTP/1.1\r\nHost: ${own}.\r\n${token}\r\n`,
      `GET /page HTTP/1.1\r\nHost: ${own}\r\nX-Original-URL: http://${other}/\r\nX_Original_URL: http://${other}/\r\n${token}\r\n`,
      `GET /page HTTP/1.0\r\n${token}\r\n`,
      `GET //${other}/page HTTP/1.1\r\nHost: ${own}\r\n${token}\r\n`,
      `GET /a/../.coppice/access?token=x HTTP/1.1\r\nHost: ${own}\r\n${token}\r\n`,
      `GET /page HTTP/1.1\r\nHost: ${own}\r\nConnection: X-Original-URL, ${ACCESS_HEADER}\r\n${token}\r\n`,
    ]) {
      expect([bytes, await raw(bytes)]).toEqual([bytes, expect.stringMatching(/^HTTP\/1\.1 (400|403|404) /)]);
    }
    expect(received).toEqual([]);
    // The attack itself works: nginx leads this request to the first host.
    await raw(`GET http://${other}/page HTTP/1.1\r\nHost: ${other}\r\n${token}\r\n`);
    expect(received).toHaveLength(1);
  });

  // The upstream of a sleeping environment is the waker, which knows the environment only by the header Host.
  test('cannot name a public environment to nginx and another one to the waker', async () => {
    expect((await get({ host: `${open}:${nginx.port}` })).text).toBe('the page');
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    for (const headers of ['', upgrade]) {
      const bytes = `GET http://${open}/page HTTP/1.1\r\nHost: ${own}\r\n${headers}\r\n`;
      expect([bytes, await raw(bytes)]).toEqual([bytes, expect.stringMatching(/^HTTP\/1\.1 403 /)]);
    }
    expect(received).toHaveLength(1);
  });

  test('gets nothing while access cannot be decided', async () => {
    isDown = true;
    expect((await get({ ...html, [ACCESS_HEADER]: tokenOf('shop-main') })).status).toBe(500);
    expect(received).toEqual([]);
  });
});

test('a WebSocket opens with a token', async () => {
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const bytes = `GET /socket HTTP/1.1\r\nHost: ${own}\r\n${ACCESS_HEADER}: ${tokenOf('shop-main')}\r\n${upgrade}\r\n`;
  expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 101 /);
  expect(received[0]?.headers[ACCESS_HEADER]).toBeUndefined();
});
