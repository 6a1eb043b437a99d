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

/** Fill the process that drives the browser, which keeps messages, instead of the browser. */
const loud = "<script>const s = 'x'.repeat(2e7); setInterval(() => console.error(s), 20)</script>";
const asking =
  "<script>const s = 'x'.repeat(2e6); for (let i = 0; i < 2000; i++) fetch(`http://x${i}.invalid/?${s}`)</script>";
const pages: Record<string, string> = { '/greedy': greedy, '/settled': settled, '/loud': loud, '/asking': asking };

beforeAll(async () => {
  ingress = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<title>Shop</title>${pages[url] ?? 'fine'}`);
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

test.each(['/loud', '/asking'])(
  'keeps what a page makes its driver receive out of other processes: %s',
  async (path) => {
    const before = process.memoryUsage().rss;
    const others = loadPage('/fine');
    const result = await loadPage(path, 400 * 1024 * 1024);
    expect(result.fault ?? '').toMatch(/^$|used more than 400 MiB|did not finish loading/);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    expect(await others).toMatchObject({ status: 200, title: 'Shop' });
  },
);

test('measures far less for a page that does nothing', async () => {
  expect((await loadPage('/fine', 400 * 1024 * 1024)).fault).toBeUndefined();
});

test('measures nothing for a mark without processes', () => {
  expect(memoryOf('--coppice-visit=none')).toEqual({ pids: [], bytes: 0 });
});
