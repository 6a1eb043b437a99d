import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { chromiumPageLoader } from './chromium-page-loader.ts';

jest.setTimeout(60_000);

/** The server to which the names of all environments resolve. */
let ingress: Server;
let port: number;
let asked: string[];

const own = 'shop--acme';
const other = 'shop--other';

beforeAll(async () => {
  ingress = createServer(({ url = '', headers: { host = '' } }, response) => {
    asked.push(`${host.split('.')[0] ?? ''}${url}`);
    answer(url, response);
  }).listen(0, '127.0.0.1');
  await once(ingress, 'listening');
  port = (ingress.address() as AddressInfo).port;
});
beforeEach(() => void (asked = []));
afterAll(() => {
  ingress.closeAllConnections();
  ingress.close();
});

const at = (label: string, path: string) => `http://${label}.env.localhost:${port}${path}`;

function answer(path: string, response: ServerResponse): void {
  const to = (location: string) => void response.writeHead(302, { location }).end();
  const page = (body: string) => void response.writeHead(200, { 'content-type': 'text/html' }).end(`<body>${body}`);
  if (path === '/redirect') return to(at(other, '/'));
  if (path === '/redirect-alias') return to(at(`admin---${own}`, '/'));
  if (path === '/script') return page(`<script>location = '${at(other, '/')}'</script>`);
  if (path === '/parts') {
    return page(`<img src="${at(other, '/img')}"><iframe src="${at(other, '/frame')}"></iframe><img src="/to-other">
      <img src="${at(`admin---${own}`, '/img')}"><script>new WebSocket('${at(other, '/socket').replace('http', 'ws')}')</script>`);
  }
  if (path === '/to-other') return to(at(other, '/redirected'));
  return page('a secret');
}

async function loadPage(path: string, text?: string) {
  const loader = chromiumPageLoader(port);
  const visit = { url: at(own, '/'), path, width: 640, height: 480, ...(text !== undefined && { text }) };
  return loader(visit, new AbortController().signal);
}

test('shows nothing of another environment after a redirect', async () => {
  const { hasText, fault } = await loadPage('/redirect', 'secret');
  expect([hasText, fault]).toEqual([
    false,
    'the page redirects to a host outside its environment. Correct the redirect',
  ]);
  expect(asked).toEqual([`${own}/redirect`]);
});

test.each(['/script', '/parts'])('nor after requests or navigation: %s', async (path) => {
  await loadPage(path);
  expect(asked).toContain(`${own}${path}`);
  expect(asked.filter((one) => one.startsWith(other))).toEqual([]);
});

test('shows its own aliases', async () => {
  const { hasText } = await loadPage('/redirect-alias', 'secret');
  expect(hasText).toBe(true);
  await loadPage('/parts');
  expect(asked).toContain(`admin---${own}/img`);
});
