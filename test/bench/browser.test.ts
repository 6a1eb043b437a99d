import { afterEach, beforeEach, expect, test } from '@jest/globals';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Browser } from './browser.ts';

/** The events that answer the next streams, or a status that refuses one. */
let answers: (string | number)[];
let positions: (string | undefined)[];
let reads: string[];
let streams: ServerResponse[];
let server: http.Server;
let browser: Browser;

const reset = 'event: reset\ndata: {"reason":"start"}\n\n';
const ready = 'event: ready\ndata: {}\n\n';
const change = (name: string) => `event: change\ndata: ${JSON.stringify({ item: { name } })}\n\n`;

beforeEach(async () => {
  [answers, positions, reads, streams] = [[`${reset}id: 7\n\n`], [], [], []];
  server = http.createServer(({ url = '', headers }, response) => {
    if (url !== '/api/events') {
      reads.push(url);
      response.writeHead(reads.length === 1 ? 503 : 200).end();
      return;
    }
    positions.push(headers['last-event-id']?.toString());
    const answer = answers.shift() ?? ready;
    if (typeof answer === 'number') response.writeHead(answer).end();
    else streams.push(response.writeHead(200).on('error', () => undefined));
    if (typeof answer === 'string') response.write(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = new Browser({ apiUrl, token: 'secret', paths: ['/api/groups', '/api/overview'], retryMs: 1 });
});

afterEach(async () => {
  browser.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('is current once it has read its page, of which it repeats what failed', async () => {
  await browser.open();
  expect(reads).toHaveLength(3);
  expect(new Set(reads)).toEqual(new Set(['/api/groups', '/api/overview']));
  expect(browser.outages).toEqual([]);
});

test('continues after the last event when its connection breaks, through refusals', async () => {
  await browser.open();
  const before = reads.length;
  answers = [503, 503, ready];
  browser.cut();
  await browser.whenCurrent();
  expect(positions).toEqual([undefined, '7', '7', '7']);
  expect(browser.outages).toEqual([{ from: expect.any(Number), to: expect.any(Number), isReload: false }]);
  expect(reads).toHaveLength(before);
});

test('reads its page again if the server does not know what it missed', async () => {
  await browser.open();
  const before = reads.length;
  answers = [reset];
  const isLost = new Promise<void>((resolve) => streams[0]?.once('close', () => resolve()));
  streams[0]?.end();
  await isLost;
  while (browser.outages.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(browser.outages[0]?.isReload).toBe(true);
  expect(reads).toHaveLength(before + 2);
});

test('reports the names of changed objects', async () => {
  await browser.open();
  const changed = new Promise<string>((resolve) => (browser.onChanged = resolve));
  streams[0]?.write(change('blue'));
  expect(await changed).toBe('blue');
});

test('rejects if its first stream is refused', async () => {
  answers = [429];
  await expect(browser.open()).rejects.toThrow('429');
});
