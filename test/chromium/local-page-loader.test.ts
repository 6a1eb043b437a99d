import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { snapshotSchema, type Visit } from '../../tester/browser/page-snapshot.ts';
import { chromiumPageLoader } from './chromium-page-loader.ts';

jest.setTimeout(120_000);

/** Servers on this machine: the Ingress controller of the environments, and what no page can reach. */
let ingress: Server;
let inside: TcpServer;
let insideUdp: Socket;
/** Connections and packets that arrived where no page can reach. */
let reached: string[];
let asked: string[];
let port: number;
let insidePort: number;
let udpPort: number;

const html = (body: string) => `<!doctype html><html><head><title>The shop</title></head><body>${body}</body></html>`;
const script = (text: string) => html(`<h1>Shop</h1><script>${text}</script>`);

/** Pages by path; INSIDE and UDP stand for what they cannot reach. */
const pages: Record<string, string | ((response: ServerResponse, request: IncomingMessage) => void)> = {
  '/': html('<h1 style="color:green">Welcome to the shop ✓</h1>'),
  '/error': script('console.error("first"); undefinedFunction()'),
  '/late': script('setTimeout(() => document.body.append("came late"), 700)'),
  // Its policy forbids the evaluation of scripts, as on well-configured pages.
  '/wrapped': (response) => {
    const headers = { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'; script-src 'self'" };
    response.writeHead(200, headers).end(html('<p>Open\n   <b>all</b>&nbsp;day</p>'));
  },
  '/hidden': html('<p style="display:none">Sold out</p><p>Shop</p>'),
  '/hidden-body': '<!doctype html><html><body style="display:none">Sold out</body></html>',
  '/many-errors': script('for (let i = 0; i < 25; i++) console.error("error " + i)'),
  '/gone': (response) => void response.writeHead(404, { 'content-type': 'text/html' }).end(html('nothing here')),
  '/away': (response) => void response.writeHead(302, { location: 'http://INSIDE/' }).end(),
  '/name': (response) => void response.writeHead(302, { location: 'http://metadata.internal:PORT/' }).end(),
  '/leaves': script('location = "http://INSIDE/"'),
  '/other-port': (response) =>
    void response.writeHead(302, { location: 'http://shop--acme.env.localhost:INSIDEPORT/x' }).end(),
  '/endless': script('setTimeout(() => { for (;;); }, 200)'),
  '/dialogs': script('alert("one"); confirm("two"); document.body.append("went on")'),
  '/hostile': html(`<img src="http://INSIDE/img"><iframe src="http://INSIDE/frame"></iframe>
    <iframe src="file:///etc/passwd"></iframe><link rel="preconnect" href="http://INSIDE/">
    <link rel="dns-prefetch" href="//INSIDE"><link rel="stylesheet" href="http://localhost:INSIDEPORT/style">
    <form id="f" action="http://INSIDE/form" method="post" target="_blank"></form>
    <script>
      const quietly = (work) => { try { Promise.resolve(work()).catch(() => {}); } catch {} };
      quietly(() => fetch('http://INSIDE/fetch', { mode: 'no-cors' }));
      quietly(() => fetch('http://[::1]:INSIDEPORT/fetch', { mode: 'no-cors' }));
      quietly(() => fetch('http://coppice-redis.coppice-system.svc:INSIDEPORT/', { mode: 'no-cors' }));
      quietly(() => fetch('/away', { mode: 'no-cors' }));
      quietly(() => navigator.sendBeacon('http://INSIDE/beacon', 'x'));
      quietly(() => new WebSocket('ws://INSIDE/socket'));
      quietly(() => new WebSocket('ws://localhost:INSIDEPORT/socket'));
      quietly(() => new EventSource('http://INSIDE/events'));
      quietly(() => window.open('http://INSIDE/window'));
      quietly(() => document.getElementById('f').submit());
      quietly(() => new WebTransport('https://INSIDE/').ready);
      const worker = new Worker(URL.createObjectURL(new Blob([
        'new WebSocket("ws://INSIDE/worker-socket"); fetch("http://INSIDE/worker-fetch", { mode: "no-cors" }).catch(() => {})',
      ], { type: 'text/javascript' })));
      worker.onerror = () => {};
      quietly(async () => {
        const servers = [
          { urls: 'stun:127.0.0.1:UDP' },
          { urls: 'turn:127.0.0.1:UDP', username: 'u', credential: 'c' },
          { urls: 'turn:INSIDE?transport=tcp', username: 'u', credential: 'c' },
        ];
        const peer = new RTCPeerConnection({ iceServers: servers });
        peer.createDataChannel('x');
        await peer.setLocalDescription(await peer.createOffer());
      });
    </script><p>hostile</p>`),
};

beforeAll(async () => {
  inside = createTcpServer((socket) => {
    reached.push('tcp');
    socket.destroy();
  }).listen(0, '127.0.0.1');
  insideUdp = createSocket('udp4', () => reached.push('udp')).bind(0, '127.0.0.1');
  ingress = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(`${request.headers.host ?? ''}${path}`);
    const page = pages[path];
    if (page === undefined) response.writeHead(404).end();
    else if (typeof page === 'function') page(response, request);
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }).listen(0, '127.0.0.1');
  await Promise.all([inside, insideUdp, ingress].map((server) => once(server, 'listening')));
  port = (ingress.address() as AddressInfo).port;
  insidePort = (inside.address() as AddressInfo).port;
  udpPort = insideUdp.address().port;
  for (const [path, page] of Object.entries(pages)) {
    const filled = (text: string) =>
      text
        .replaceAll('INSIDEPORT', String(insidePort))
        .replaceAll('INSIDE', `127.0.0.1:${insidePort}`)
        .replaceAll('UDP', String(udpPort))
        .replaceAll(':PORT', `:${port}`);
    if (typeof page === 'string') pages[path] = filled(page);
    else
      pages[path] = (response, request) => {
        const writeHead = response.writeHead.bind(response);
        response.writeHead = ((status: number, headers: Record<string, string>) =>
          writeHead(
            status,
            headers.location ? { location: filled(headers.location) } : headers,
          )) as typeof response.writeHead;
        page(response, request);
      };
  }
});
afterAll(() => {
  ingress.closeAllConnections();
  ingress.close();
  inside.close();
  insideUdp.close();
});

async function loadPage(path: string, more: Partial<Visit> = {}, signal = new AbortController().signal) {
  reached = [];
  asked = [];
  const loader = chromiumPageLoader(port);
  const url = `http://shop--acme.env.localhost:${port}/`;
  return snapshotSchema.parse(await loader({ url, path, width: 640, height: 480, ...more }, signal));
}

test('loads a page without faults', async () => {
  const snapshot = await loadPage('/', { text: 'Welcome to the shop' });
  const { screenshot = '', times, ...reported } = snapshot;
  expect(reported).toEqual({ status: 200, title: 'The shop', hasText: true, errors: [], moreErrors: 0, blocked: [] });
  const png = Buffer.from(screenshot, 'base64');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  // Width and height in the header of the PNG.
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([640, 480]);
  expect(times.loadMs).toBeGreaterThan(0);
  expect(times.firstAnswerMs).toBeLessThanOrEqual(times.loadMs ?? 0);
});

describe('reports a fault of a page', () => {
  test('as errors in the console, and exceptions', async () => {
    const { errors } = await loadPage('/error');
    expect(errors).toEqual(['first', 'undefinedFunction is not defined']);
  });

  test('with a limited number of errors, and counts the others', async () => {
    const { errors, moreErrors } = await loadPage('/many-errors');
    expect([errors.length, moreErrors]).toEqual([10, 15]);
  });

  test('as its status', async () => {
    expect(await loadPage('/gone')).toMatchObject({ status: 404, title: 'The shop' });
  });

  test('if an expected text does not appear in time', async () => {
    expect((await loadPage('/late', { text: 'came late' })).hasText).toBe(true);
    expect((await loadPage('/late', { text: 'came.late' })).hasText).toBe(false);
  });

  test.each([
    ['/wrapped', 'Open all  day', true],
    ['/hidden', 'Sold out', false],
    ['/hidden-body', 'Sold out', false],
  ])('of %s, where a reader sees "%s": %s', async (path, text, hasText) => {
    expect((await loadPage(path, { text })).hasText).toBe(hasText);
  });

  test('but not a dialog', async () => {
    expect((await loadPage('/dialogs', { text: 'went on' })).hasText).toBe(true);
  });

  test.each(['/away', '/name'])('if it redirects to another host: %s', async (path) => {
    const snapshot = await loadPage(path);
    expect(snapshot.fault).toBe('the page redirects to a host outside its environment. Correct the redirect');
    expect(reached).toEqual([]);
  });

  test('if its scripts never end', async () => {
    const { screenshot, status } = await loadPage('/endless');
    expect([screenshot, status]).toEqual([undefined, 200]);
  });
});

describe('a hostile page reaches nothing inside', () => {
  test('by any means of a page', async () => {
    const snapshot = await loadPage('/hostile', { text: 'hostile' });
    expect(snapshot.hasText).toBe(true);
    expect(reached).toEqual([]);
    expect(snapshot.blocked).toEqual(expect.arrayContaining([`http://127.0.0.1:${insidePort}/img`]));
    // A request that the tester blocks is not an error of the page.
    expect(snapshot.errors.filter((error) => error.includes('ERR_BLOCKED_BY_CLIENT'))).toEqual([]);
  });

  test('by redirects', async () => {
    await loadPage('/leaves');
    expect(reached).toEqual([]);
  });

  test("by another port of an environment, because every port leads to the Ingress controller's", async () => {
    await loadPage('/other-port');
    expect(reached).toEqual([]);
    expect(asked.at(-1)).toBe(`shop--acme.env.localhost:${insidePort}/x`);
  });
});

test('closes the browser at the deadline', async () => {
  const deadline = new AbortController();
  const loading = loadPage('/endless', {}, deadline.signal);
  setTimeout(() => deadline.abort(), 1500);
  await expect(loading).rejects.toThrow();
});

test('detects requests that reach the guard of these tests', async () => {
  reached = [];
  await fetch(`http://127.0.0.1:${insidePort}/`).catch(() => undefined);
  expect(reached).toEqual(['tcp']);
});
