import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { memoryOf } from '../../tester/browser/memory.ts';
import { chromiumPageLoader } from './chromium-page-loader.ts';

jest.setTimeout(60_000);

let ingress: Server;
let port: number;
const greedy = '<script>const a = []; for (;;) a.push(new Uint8Array(1e8).fill(1))</script>';
const settled =
  '<script>onload = () => setTimeout(() => { for (const a = [];;) a.push(new Uint8Array(1e8).fill(1)) }, 300)</script>';

beforeAll(async () => {
  ingress = createServer(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<title>Shop</title>${url === '/greedy' ? greedy : url === '/settled' ? settled : 'fine'}`);
  }).listen(0, '127.0.0.1');
  await once(ingress, 'listening');
  port = (ingress.address() as AddressInfo).port;
});
afterAll(() => {
  ingress.closeAllConnections();
  ingress.close();
});

async function loadPage(path: string, maxBytes = 512 * 1024 * 1024) {
  const loader = chromiumPageLoader(port, maxBytes);
  const url = `http://shop--acme.env.localhost:${port}/`;
  return loader({ url, path, width: 640, height: 480 }, new AbortController().signal);
}

test.each(['/greedy', '/settled'])('ends the browser of a page that uses ever more memory: %s', async (path) => {
  const others = loadPage('/fine');
  expect((await loadPage(path)).fault).toBe('the page used more than 512 MiB of memory. Make it lighter');
  expect(await others).toMatchObject({ status: 200, title: 'Shop' });
});

test('measures far less for a page that does nothing', async () => {
  expect((await loadPage('/fine', 300 * 1024 * 1024)).fault).toBeUndefined();
});

test('measures nothing for a mark without processes', () => {
  expect(memoryOf('--coppice-visit=none')).toEqual({ pids: [], bytes: 0 });
});
