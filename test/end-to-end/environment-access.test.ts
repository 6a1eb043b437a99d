import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import type { RestClient } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { echoingPage } from './echoing-page.ts';
import { namespaceOf, startHarness, type Harness } from './harness.ts';
import { axeViolations } from './panel-browser.ts';
import { testsOver } from './tested-page.ts';

/** Who can open environments, with the Ingress controller of the local cluster and a browser. */

const header = 'x-coppice-environment-access';
const html = { accept: 'text/html' };
const echoSchema = z.looseObject({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  beside: z.number().optional(),
});
const ownSchema = z.looseObject({ ownAccess: z.string().optional(), hasAccessPassword: z.boolean().optional() });
const sharedSchema = z.looseObject({ url: z.string(), token: z.string() });

let harness: Harness;
let browser: Browser;
let repository: string;
let id: string;
let weburl: string;
let alias: string;
/** Another environment of the same repository. */
let otherUrl: string;
let member: RestClient;
const password = randomBytes(12).toString('base64url');

beforeAll(async () => {
  harness = await startHarness('access');
  const url = `${harness.connection.gitUrl}/${harness.group}/echo.git`;
  for (const branch of ['main', 'other']) await pushRepository({ url, branch, files: echoingPage() });
  repository = await harness.addRepository('echo', url);
  await settings({ access: 'members' });
  const [one, other] = await Promise.all([harness.spawn(repository, 'main'), harness.spawn(repository, 'other')]);
  id = one;
  member = await harness.newUser(password);
  await harness.client.call(z.unknown(), 'POST', `/api/group/${harness.group}/members`, { name: member.email });
  const [built, otherBuilt] = await Promise.all([harness.built(one), harness.built(other)]);
  ({ weburl } = built);
  alias = built.aliases['api'] ?? '';
  otherUrl = otherBuilt.weburl;
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
}, 180_000);

afterAll(async () => {
  await browser.close();
  await harness.remove();
}, 60_000);

const settings = (body: object) =>
  harness.client.call(z.unknown(), 'POST', `/api/repository/${repository}/settings`, body);
const setAccess = (body: object) => harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/access`, body);
const share = async (body: object = {}, client = harness.client) =>
  client.call(sharedSchema, 'POST', `/api/environment/${id}/share`, body);
const echoed = (text: string) => echoSchema.parse(JSON.parse(text));

/** Sends bytes to the Ingress controller, and returns the first line of its response. */
function raw(bytes: string): Promise<string> {
  const { port } = new URL(harness.connection.apiUrl);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port: Number(port), timeout: 10_000 });
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (!text.includes('\r\n')) return;
      socket.destroy();
      resolve(text.split('\r\n')[0] ?? '');
    });
    socket.on('timeout', () => socket.destroy(new Error('no response')));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

describe('a stranger', () => {
  test('is sent to the panel by a page, and refused otherwise, at every address and path', async () => {
    const page = await send(weburl, { headers: html });
    expect(page.status).toBe(303);
    expect(page.headers.location).toMatch(new RegExp(`^${harness.connection.apiUrl}/access\\?host=`));
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    for (const url of [
      weburl,
      alias,
      `${weburl}beside`,
      `${weburl}.coppice/access`,
      `${weburl}.coppice/access?code=x`,
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const { status, text } = await send(url, { method });
        expect({ url, method, isRefused: status === 401 || status === 403 }).toEqual({ url, method, isRefused: true });
        expect(text).not.toContain('"headers"');
      }
    }
  });

  test('cannot use another name of the host, a forged description or an upgrade', async () => {
    const { host, hostname } = new URL(weburl);
    const forged = 'X-Forwarded-Host: unknown\r\nX-Forwarded-Uri: /public\r\nX-Forwarded-Method: OPTIONS\r\n';
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const requests = [
      `GET / HTTP/1.0\r\n\r\n`,
      `GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${hostname}.\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${host.toUpperCase()}\r\n\r\n`,
      `GET http://${host}/ HTTP/1.1\r\nHost: coppice.localhost\r\n\r\n`,
      `GET //${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\n${forged}\r\n`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Cookie, ${header}\r\nCookie: a=1\r\n${header}: x\r\n\r\n`,
    ];
    for (const one of requests)
      expect([one, await raw(one)]).toEqual([one, expect.stringMatching(/^HTTP\/1\.[01] (401|403|404) /)]);
  });

  test('cannot make a link, and a read-only token or a member cannot change who can open it', async () => {
    const stranger = await harness.newUser();
    expect((await stranger.send('POST', `/api/environment/${id}/share`)).status).toBe(404);
    expect((await stranger.send('POST', `/api/environment/${id}/access`, { access: 'public' })).status).toBe(404);
    const reader = await harness.client.withApiToken('reader', new Date(Date.now() + 3600_000), true);
    for (const [client, path] of [
      [reader, `/api/environment/${id}/access`],
      [reader, `/api/environment/${id}/share`],
      [reader, `/api/repository/${repository}/settings`],
      [member, `/api/environment/${id}/access`],
      [member, `/api/repository/${repository}/settings`],
    ] as const) {
      expect([path, (await client.send('POST', path, { access: 'public' })).status]).toEqual([path, 403]);
    }
  });
});

test('the API can change who can open an Environment, and nothing else of its spec', async () => {
  const as = ['--as', 'system:serviceaccount:coppice-system:coppice-api'];
  const [group = '', name = ''] = id.split('.');
  const patch = (spec: object) =>
    harness.kubectl([
      ...['patch', 'environments.coppice.dev', name, '--namespace', `group-${group}`, '--type', 'merge', ...as],
      ...['--patch', JSON.stringify({ spec })],
    ]);
  await expect(patch({ ttlSeconds: 60 })).rejects.toThrow('can change only');
  await expect(patch({ access: 'members', displayName: 'x' })).rejects.toThrow('can change only');
  await patch({ access: 'members' });
  await patch({ access: null });
});

test('a token opens its environment, and does not reach the services', async () => {
  const { token } = await share();
  for (const url of [weburl, alias]) {
    const answer = await send(url, { headers: { [header]: token, cookie: 'own=1; coppice-access=x' }, method: 'POST' });
    const { headers } = echoed(answer.text);
    expect({ status: answer.status, cookie: headers['cookie'] }).toEqual({ status: 200, cookie: 'own=1' });
    expect(JSON.stringify(headers)).not.toContain(token);
  }
  expect((await send(otherUrl, { headers: { [header]: token } })).status).toBe(401);
  const beside = await send(`${weburl}beside`, { headers: { [header]: token } });
  // Services of an environment reach each other as before.
  expect(echoed(beside.text).beside).toBe(200);
}, 60_000);

test('the tester opens the environment', async () => {
  const { tests } = await testsOver(harness.client, id);
  expect(tests.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(['home passed', 'looks passed']);
}, 120_000);

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail address').fill(member.email ?? '');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function visitorAt(url: string): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(url);
  return { page, context };
}

describe('in a browser', () => {
  let page: Page;
  let context: BrowserContext;

  test('a member logs in at the panel, and returns to the page', async () => {
    ({ page, context } = await visitorAt(`${weburl}page?x=1`));
    expect(new URL(page.url()).origin).toBe(harness.connection.apiUrl);
    await signIn(page);
    await page.getByRole('heading', { name: 'Open all day' }).waitFor();
    expect(page.url()).toBe(`${weburl}page?x=1`);
    // The page can read neither the cookie nor a login of the API.
    expect(await page.evaluate('document.cookie')).toBe('');
    const own = await page.evaluate(`fetch('/').then((response) => response.json())`);
    const { headers } = echoSchema.parse(own);
    expect([headers['cookie'], headers['referer']]).toEqual([undefined, `${weburl}page?x=1`]);
    const stored = await context.cookies(weburl);
    expect(stored.map(({ name, httpOnly, domain }) => ({ name, httpOnly, domain }))).toEqual([
      { name: 'coppice-access', httpOnly: true, domain: new URL(weburl).hostname },
    ]);
  }, 60_000);

  test('the page of another environment cannot use the access', async () => {
    await page.goto(`${otherUrl}page`);
    await page.getByRole('heading', { name: 'Open all day' }).waitFor();
    const attack = `Promise.all([
      fetch('${weburl}', { credentials: 'include', mode: 'no-cors' }).then(({ type }) => type),
      new Promise((resolve) => {
        const script = document.createElement('script');
        script.onload = () => resolve('loaded');
        script.onerror = () => resolve('refused');
        script.src = '${weburl}beside';
        document.head.append(script);
      }),
      new Promise((resolve) => {
        const socket = new WebSocket('${weburl.replace('http', 'ws')}');
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('refused');
      }),
    ])`;
    const answered = page.waitForResponse(weburl);
    expect(await page.evaluate(attack)).toEqual(['opaque', 'refused', 'refused']);
    expect((await answered).status()).toBe(403);
  }, 60_000);

  test('a logout at the panel ends the visit', async () => {
    await page.goto(`${weburl}page`);
    await page.getByRole('heading', { name: 'Open all day' }).waitFor();
    const [login] = (await context.cookies(harness.connection.apiUrl)).filter(({ name }) => name === 'token');
    expect(login?.value).toMatch(/./);
    const logout = { method: 'POST', headers: { 'x-service-token': login?.value ?? '' } };
    expect((await send(`${harness.connection.apiUrl}/api/user/logout`, logout)).status).toBe(200);
    await waitFor('the visit to end', 30, async () => {
      await page.goto(`${weburl}page`);
      return new URL(page.url()).origin === harness.connection.apiUrl ? true : undefined;
    });
  }, 60_000);

  test('an owner makes a link and sets a password in the panel', async () => {
    const owner = await browser.newContext({ baseURL: harness.connection.apiUrl });
    await owner.addCookies([{ name: 'token', value: harness.client.token ?? '', url: harness.connection.apiUrl }]);
    const panel = await owner.newPage();
    panel.setDefaultTimeout(30_000);
    await panel.goto(`/environments/${id}?tab=settings`);
    await panel.getByRole('button', { name: 'Make a link' }).click();
    const link = panel.getByText(`${weburl}.coppice/access?token=`);
    await link.waitFor();
    const address = (await link.textContent()) ?? '';
    expect((await send(address)).headers.location).toBe(weburl);
    await panel.getByLabel('End a link').fill(address);
    await panel.getByRole('button', { name: 'End this link' }).click();
    await panel.getByText('The link has ended.').first().waitFor();
    await waitFor('the link to end', 10, async () => ((await send(address)).status === 403 ? true : undefined));
    await panel.getByRole('combobox', { name: 'Who can open the addresses' }).selectOption('password');
    expect(await axeViolations(panel)).toEqual([]);
    await panel.getByLabel('Password for visitors').fill('a password from the panel');
    await panel.getByRole('form', { name: 'Who can open it' }).getByRole('button', { name: 'Save' }).click();
    await panel.getByText('Saved.').first().waitFor();
    expect(await harness.client.call(ownSchema, 'GET', `/api/environment/${id}?build=false`)).toMatchObject({
      ownAccess: 'password',
      hasAccessPassword: true,
    });
    await setAccess({ access: null });
    await owner.close();
  }, 60_000);

  test('a link opens the environment without a login, and ends with its maker', async () => {
    const { url, token } = await share({ path: '/page?from=link' }, member);
    const visitor = await visitorAt(url);
    await visitor.page.getByRole('heading', { name: 'Open all day' }).waitFor();
    expect(visitor.page.url()).toBe(`${weburl}page?from=link`);
    await harness.client.call(z.unknown(), 'DELETE', `/api/group/${harness.group}/members/${member.email ?? ''}`);
    await waitFor('the link to end', 10, async () =>
      (await send(weburl, { headers: { [header]: token } })).status === 401 ? true : undefined,
    );
    await visitor.page.goto(`${weburl}page`);
    expect(new URL(visitor.page.url()).origin).toBe(harness.connection.apiUrl);
    await visitor.context.close();
  }, 60_000);

  test('a link ends alone, and with all others, also where it has opened the environment', async () => {
    const end = (body: object) => harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/share/end`, body);
    const statusOf = async (token: string) => (await send(weburl, { headers: { [header]: token } })).status;
    const isEnded = (token: string) => async () => ((await statusOf(token)) === 401 ? true : undefined);
    const [one, other] = [await share({ path: '/page' }), await share()];
    const visitor = await visitorAt(one.url);
    await visitor.page.getByRole('heading', { name: 'Open all day' }).waitFor();
    await end({ link: one.url });
    await waitFor('the link to end', 10, isEnded(one.token));
    await visitor.page.goto(`${weburl}page`);
    expect(new URL(visitor.page.url()).origin).toBe(harness.connection.apiUrl);
    expect((await send(one.url)).status).toBe(403);
    expect(await statusOf(other.token)).toBe(200);
    await end({ all: true });
    await waitFor('all links to end', 10, isEnded(other.token));
    expect(await statusOf((await share()).token)).toBe(200);
    await visitor.context.close();
  }, 60_000);

  test('a password opens the environment, until it changes', async () => {
    const accessPassword = randomBytes(12).toString('base64url');
    await setAccess({ access: 'password', accessPassword });
    const visitor = await visitorAt(`${weburl}page`);
    const field = visitor.page.getByRole('textbox', { name: 'Password' });
    await field.fill('a wrong password');
    await visitor.page.getByRole('button', { name: 'Open' }).click();
    await visitor.page.getByText('The password is wrong').waitFor();
    expect(await axeViolations(visitor.page)).toEqual([]);
    await field.fill(accessPassword);
    await visitor.page.getByRole('button', { name: 'Open' }).click();
    await visitor.page.getByRole('heading', { name: 'Open all day' }).waitFor();
    expect(visitor.page.url()).toBe(`${weburl}page`);
    await setAccess({ accessPassword: randomBytes(12).toString('base64url') });
    await waitFor('the visit to end', 30, async () => {
      await visitor.page.goto(`${weburl}page`);
      return new URL(visitor.page.url()).origin === harness.connection.apiUrl ? true : undefined;
    });
    await context.close();
    await visitor.context.close();
  }, 90_000);
});

test('an environment becomes public, and restricted again at once, while a removed annotation is restored', async () => {
  await setAccess({ access: 'public' });
  await waitFor('the environment to be public', 30, async () =>
    (await send(weburl)).status === 200 ? true : undefined,
  );
  await waitFor('the middleware to be removed', 30, async () => ((await middleware()) === '' ? true : undefined));
  await setAccess({ access: 'members' });
  const isRefused = async () => ((await send(weburl)).status === 401 ? true : undefined);
  await waitFor('the environment to be restricted', 10, isRefused);
  await harness.kubectl(['annotate', 'ingress', 'web', '--namespace', namespaceOf(id), `${annotation}-`]);
  await waitFor('the annotation to be restored', 10, async () => ((await middleware()) === '' ? undefined : true));
  await waitFor('the environment to be restricted again', 10, isRefused);
}, 120_000);

const annotation = 'traefik.ingress.kubernetes.io/router.middlewares';

function middleware(): Promise<string> {
  const path = `jsonpath={.metadata.annotations.${annotation.replaceAll('.', '\\.')}}`;
  return harness.kubectl(['get', 'ingress', 'web', '--namespace', namespaceOf(id), '--output', path]);
}
