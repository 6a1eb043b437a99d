import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { remotePageLoader } from './remote-page-loader.ts';
import type { PageSnapshot } from './page-snapshot.ts';

const visit = { url: 'http://shop--acme.env.localhost/', path: '/', width: 640, height: 480, consoleErrors: true };
const snapshot: PageSnapshot = { hasText: false, times: {}, errors: [], moreErrors: 0, blocked: [] };
const signal = new AbortController().signal;
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Returns the address of a browser process that gives this response. */
async function answering(answer: (response: ServerResponse, body: string) => void, port = 0): Promise<string> {
  const listening = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => answer(response, body));
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

test('returns the snapshot of the browser, which receives only what it needs', async () => {
  let errors = '';
  const url = await answering((response, body) => {
    errors = body;
    response.end(JSON.stringify({ snapshot }));
  });
  expect(await remotePageLoader(url)(visit, signal)).toEqual(snapshot);
  expect(JSON.parse(errors)).toEqual({ url: visit.url, path: '/', width: 640, height: 480 });
});

test('waits for a process that is starting', async () => {
  const url = await answering((response) => void response.end(JSON.stringify({ snapshot })));
  const { port } = new URL(url);
  await new Promise((resolve) => server?.close(resolve));
  const loading = remotePageLoader(url)(visit, signal);
  await answering((response) => void response.end(JSON.stringify({ snapshot })), Number(port));
  expect(await loading).toEqual(snapshot);
});

describe('distrusts a browser that a page may have compromised', () => {
  test.each<[string, (response: ServerResponse) => void, string]>([
    ['its error', (response) => response.end('{"error":"Chromium did not start"}'), 'Chromium did not start'],
    ['no JSON', (response) => response.end('{'), 'the response of the browser is not valid. Run the tests again'],
    [
      'another form',
      (response) => response.end('{"page":{"status":1}}'),
      'the response of the browser is not valid. Run the tests again',
    ],
    [
      'a text without bound',
      (response) => response.end(JSON.stringify({ snapshot: { ...snapshot, title: 'x'.repeat(501) } })),
      'the response of the browser is not valid. Run the tests again',
    ],
    [
      'an answer without bound',
      (response) => response.end('x'.repeat(9 * 1024 * 1024)),
      'the response of the browser is too large. Run the tests again',
    ],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'the browser ended while it loaded the page. Run the tests again',
    ],
    [
      'a broken connection',
      (response) => response.destroy(),
      'the browser ended while it loaded the page. Run the tests again',
    ],
  ])('%s', async (_what, answer, message) => {
    await expect(remotePageLoader(await answering(answer))(visit, signal)).rejects.toThrow(message);
  });
});
