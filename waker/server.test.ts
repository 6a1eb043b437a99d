import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { KnownEnvironment, OperatorMessage } from '../waker-protocol/messages.ts';
import { Environments } from './environments.ts';
import { RequestSlots } from './request-slots.ts';
import { OWN_PATHS, PROOF_HEADER } from './page.ts';
import { Proofs } from './proof.ts';
import { WakerServer } from './server.ts';
import type { Outcome } from './visit.ts';
import { sampleEnvironment } from './testing/sample-environment.ts';

const key = 'group-a/shop';
const html = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

let report: (message: OperatorMessage) => void;
/** Called for each request that waits for a report. */
let listen: jest.SpiedFunction<Environments['listen']>;
let held: RequestSlots;
let server: WakerServer;
let port: number;
let visited: string[];
let open: number;
let outcomes: Outcome[];
let logged: string[];
const closing: (() => Promise<unknown>)[] = [];

async function startServer({ max = 10, holdMs = 5000, proofs = new Proofs('k', Date.now) } = {}): Promise<void> {
  const environments = new Environments({ lingerMs: 60_000, now: Date.now });
  report = environments.receiver();
  listen = jest.spyOn(environments, 'listen');
  visited = [];
  open = 0;
  outcomes = [];
  logged = [];
  const slots = (limit: number) =>
    new RequestSlots({ max: limit, maxPerEnvironment: limit, maxPerGroup: limit, maxPerTenant: limit });
  held = slots(max);
  const visits = {
    report: (of: string) => void visited.push(of),
    open: (of: string) => {
      visited.push(of);
      open++;
      return () => void open--;
    },
  };
  const count = (outcome: Outcome) => void outcomes.push(outcome);
  server = new WakerServer({
    ...{ environments, held, visits, proofs, holdMs, count },
    open: slots(20),
    streams: slots(max),
    maxConnections: 20,
    logger: { warn: () => undefined, error: (_bindings: unknown, words?: string) => void logged.push(words ?? '') },
  });
  port = await server.start(0);
}

beforeEach(() => startServer());
afterEach(async () => {
  await server.stop(0);
  for (const close of closing.splice(0)) await close();
});

/** Starts an application in place of a pod. Returns its port. */
async function application(answer: (request: IncomingMessage, response: ServerResponse) => void, at = 0) {
  const app = http.createServer(answer);
  await new Promise<void>((resolve) => app.listen(at, '127.0.0.1', resolve));
  closing.push(() => {
    app.closeAllConnections();
    return new Promise((resolve) => app.close(resolve));
  });
  return { port: (app.address() as AddressInfo).port, app };
}

const know = (given: Partial<KnownEnvironment> = {}) =>
  report({ type: 'environment', environment: sampleEnvironment(given) });

/** Reports that the service runs at this port of the host. */
const awake = (appPort: number, mode: KnownEnvironment['mode'] = 'waking') =>
  know({
    mode,
    hosts: { 'shop.example': [{ path: '/', service: 'web', port: appPort }] },
    services: [{ name: 'web', ready: true }],
    backends: { web: ['127.0.0.1'] },
  });

function send(
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      ...{ port, path, method, host: '127.0.0.1', agent: false },
      headers: { host: 'shop.example:8080', ...headers },
    });
    request.once('error', reject).once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.end(body);
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let left = 200; left > 0 && !isTrue(); left--) await delay(10);
  expect(isTrue()).toBe(true);
}

/** Waits for the server to hold a request: a fixed time would be too short on a busy machine. */
const untilOneWaits = () => until(() => listen.mock.calls.length > 0);

describe('a request to a sleeping environment', () => {
  test('is held until its service runs, and forwarded with its headers and body', async () => {
    know();
    const { port: appPort } = await application((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(201, 'Made', { 'x-seen': `${request.method} ${request.url} ${request.headers.host}` });
        response.end(`${String(request.headers['x-own'])} ${Buffer.concat(chunks).length}`);
      });
    });
    const body = Buffer.alloc(300_000, 'x');
    const answering = send('/orders?a=%20b', { method: 'POST', headers: { 'x-own': '1' }, body });
    await until(() => visited.includes(key));
    expect(open).toBe(1);
    awake(appPort);
    const { status, headers, body: text } = await answering;
    expect([status, headers['x-seen'], text]).toEqual([201, 'POST /orders?a=%20b shop.example:8080', '1 300000']);
    expect(headers.connection).toBe('close');
    await until(() => open === 0);
    expect(outcomes).toEqual(['forwarded']);
  });

  test('is retried while the pod refuses connections', async () => {
    const { port: appPort, app } = await application((_request, response) => response.end('first'));
    app.closeAllConnections();
    await new Promise((resolve) => app.close(resolve));
    awake(appPort);
    const answering = send('/', { headers: { accept: '*/*' } });
    await delay(300);
    await application((_request, response) => response.end('second'), appPort);
    expect((await answering).body).toBe('second');
  });

  test('is answered with 503 when too many wait, or when it waits too long', async () => {
    await server.stop(0);
    await startServer({ max: 1, holdMs: 400 });
    know();
    const first = send('/');
    await until(() => visited.length === 1);
    const second = await send('/');
    expect([second.status, second.headers['retry-after']]).toEqual([503, '5']);
    const late = await first;
    expect([late.status, late.headers['retry-after']]).toEqual([503, '5']);
    expect(outcomes).toEqual(['full', 'late']);
  });

  test('is refused with its answer, although its body has not been read', async () => {
    know({ wakeOn: 'never' });
    const { status, body } = await send('/', { method: 'POST', body: Buffer.alloc(8_000_000, 'x') });
    expect([status, body]).toEqual([503, expect.stringContaining('a visit does not wake it')]);
  });

  test('is refused with 431 if its headers are too large', async () => {
    know();
    expect((await send('/', { headers: { 'x-large': 'x'.repeat(40_000) } })).status).toBe(431);
  });

  test('gives its slot back when the client leaves', async () => {
    await server.stop(0);
    await startServer({ max: 1 });
    know();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n');
    await until(() => open === 1);
    socket.destroy();
    await until(() => open === 0);
    const { port: appPort } = await application((_request, response) => response.end('ok'));
    awake(appPort);
    expect((await send('/')).body).toBe('ok');
  });

  test('waits until an operator has reported the environment', async () => {
    const answering = send('/');
    await untilOneWaits();
    const { port: appPort } = await application((_request, response) => response.end('ok'));
    awake(appPort);
    expect((await answering).body).toBe('ok');
  });

  test('is answered at once for an unknown host as soon as an operator has reported everything', async () => {
    const early = send('/');
    await untilOneWaits();
    report({ type: 'synced', isComplete: true });
    expect((await early).status).toBe(503);
    expect((await send('/')).status).toBe(503);
    expect(outcomes).toEqual(['unknown', 'unknown']);
  });

  test('ends its wait for an operator when the client leaves', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n');
    await untilOneWaits();
    expect(outcomes).toEqual([]);
    socket.destroy();
    await until(() => outcomes.length > 0);
    expect(outcomes).toEqual(['failed']);
  });

  test('may have a dot at the end of its host', async () => {
    const { port: appPort } = await application((_request, response) => response.end('ok'));
    awake(appPort, 'awake');
    expect((await send('/', { headers: { host: 'Shop.Example.:8080' } })).body).toBe('ok');
  });

  test.each([
    ['a crawler', '/', { 'user-agent': 'Googlebot/2.1', ...html }, 503],
    ['robots.txt', '/robots.txt', {}, 200],
    ['a health check', '/', { 'user-agent': 'kube-probe/1.34' }, 503],
  ])('of %s wakes nothing', async (_what, path, headers, status) => {
    know();
    expect((await send(path, { headers })).status).toBe(status);
    expect(visited).toEqual([]);
  });

  test.each(['login', 'never'] as const)('wakes nothing with wakeOn %s', async (wakeOn) => {
    know({ wakeOn });
    expect((await send('/')).status).toBe(503);
    const page = await send('/', { headers: html });
    expect(page.body.includes('https://coppice.example/environments/a.shop')).toBe(wakeOn === 'login');
    expect(page.body).not.toContain(OWN_PATHS.wake);
    expect(visited).toEqual([]);
  });

  test('wakes nothing by other headers than Host, nor by a URL with a host', async () => {
    know();
    know({ key: 'group-b/other', hosts: { 'other.example': [{ path: '/', service: 'web', port: 80 }] } });
    const forged = {
      'x-forwarded-host': 'other.example',
      forwarded: 'host=other.example',
      'x-original-url': '//other.example/',
    };
    const answering = send('/', { headers: forged }).catch(() => undefined);
    await until(() => visited.length > 0);
    expect(new Set(visited)).toEqual(new Set([key]));
    expect((await send('http://other.example/')).status).toBe(503);
    expect(visited).not.toContain('group-b/other');
    await server.stop(0);
    await answering;
  });
});

describe('the waiting page', () => {
  const proofIn = (body: string) => /"x-coppice-proof": "([^"]+)"/.exec(body)?.[1] ?? '';

  test('is shown to a browser, and wakes nothing by itself', async () => {
    know();
    const { status, headers, body } = await send('/', { headers: html });
    expect([status, headers['cache-control'], headers['retry-after']]).toEqual([503, 'no-store', '5']);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'nonce-/);
    expect(body).toContain('<b>a.shop</b>');
    expect(visited).toEqual([]);
  });

  test('wakes by the proof in its script, which belongs to its host', async () => {
    know();
    know({ key: 'group-b/other', hosts: { 'other.example': [{ path: '/', service: 'web', port: 80 }] } });
    const proof = proofIn((await send('/', { headers: html })).body);
    const wake = (headers: Record<string, string>) => send(OWN_PATHS.wake, { method: 'POST', headers });
    const forged: Record<string, string>[] = [
      {},
      { [PROOF_HEADER]: 'x' },
      { [PROOF_HEADER]: proof, host: 'other.example' },
    ];
    for (const headers of forged) {
      expect((await wake(headers)).status).toBe(403);
    }
    expect((await wake({ [PROOF_HEADER]: proof, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await send(OWN_PATHS.wake, { headers: { [PROOF_HEADER]: proof } })).status).toBe(403);
    expect(visited).toEqual([]);
    expect((await wake({ [PROOF_HEADER]: proof })).status).toBe(202);
    expect(visited).toEqual([key]);
  });

  test('shows how the services start, and is replaced when they run', async () => {
    know({
      mode: 'waking',
      services: [
        { name: 'db', ready: true },
        { name: 'web', ready: false },
      ],
    });
    const events = send(OWN_PATHS.events, { headers: { accept: 'text/event-stream' } });
    await delay(100);
    const { port: appPort } = await application((_request, response) => response.end('ok'));
    awake(appPort, 'awake');
    const { body } = await events;
    const received = body
      .split('\n\n')
      .filter(Boolean)
      .map((event) => JSON.parse(event.replace('data: ', '')) as { ready: boolean });
    expect(received.map(({ ready }) => ready)).toEqual([false, true]);
  });
});

describe('a stream of events', () => {
  const events = (headers: Record<string, string> = {}, method = 'GET') => send(OWN_PATHS.events, { method, headers });

  test('takes no slot of held requests, and has a limit of its own', async () => {
    await server.stop(0);
    await startServer({ max: 1 });
    know();
    const first = events();
    await delay(50);
    expect([(await events()).status, held.total]).toEqual([503, 0]);
    const waiting = send('/');
    await until(() => held.total === 1);
    const { port: appPort } = await application((_request, response) => response.end('ok'));
    awake(appPort, 'awake');
    expect((await waiting).body).toBe('ok');
    expect((await first).status).toBe(200);
  });

  test.each([
    ['a page of another host', 'GET', { 'sec-fetch-site': 'same-site' }],
    ['a crawler', 'GET', { 'user-agent': 'Googlebot/2.1' }],
    ['a form', 'POST', {}],
  ])('is refused to %s', async (_whom, method, headers) => {
    know();
    expect((await events(headers as Record<string, string>, method)).status).toBe(403);
  });

  test('is refused where a visit wakes nothing, as long as nothing wakes', async () => {
    know({ wakeOn: 'login' });
    expect((await events()).status).toBe(503);
    const { port: appPort } = await application((_request, response) => response.end('ok'));
    awake(appPort, 'awake');
    expect((await events()).status).toBe(200);
  });
});

test('a response that HTTP does not allow is answered with 502', async () => {
  const pod = createServer((socket) => void socket.resume().end('HTTP/1.1 099 odd\r\nContent-Length: 0\r\n\r\n'));
  await new Promise<void>((resolve) => pod.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => pod.close(resolve)));
  awake((pod.address() as AddressInfo).port);
  const { status, body } = await send('/');
  expect([status, body]).toEqual([502, expect.stringContaining('does not allow')]);
  expect(logged).toEqual([]);
});

test('a fault of the waker itself is answered with 500, and logged', async () => {
  await server.stop(0);
  const proofs = new Proofs('k', Date.now);
  proofs.sign = () => {
    throw new Error('no key');
  };
  await startServer({ proofs });
  know();
  expect((await send('/', { headers: html })).status).toBe(500);
  expect([outcomes, logged]).toEqual([['failed'], ['a request could not be answered']]);
});

test('an environment that runs needs no slot of held requests', async () => {
  await server.stop(0);
  await startServer({ max: 1 });
  know({ key: 'group-b/other', hosts: { 'other.example': [{ path: '/', service: 'web', port: 80 }] } });
  const waiting = send('/', { headers: { host: 'other.example' } }).catch(() => undefined);
  await until(() => held.total === 1);
  const { port: appPort } = await application((_request, response) => response.end('ok'));
  awake(appPort, 'awake');
  expect((await send('/')).body).toBe('ok');
  await server.stop(0);
  await waiting;
  await until(() => open === 0);
});

describe('an upgrade', () => {
  const upgrade = 'GET /socket HTTP/1.1\r\nHost: shop.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';

  test("leaves the client's connection to nobody after another answer than 101", async () => {
    const seen: string[] = [];
    const { port: appPort, app } = await application(() => undefined);
    // An application that knows no upgrades answers them as requests, and keeps its connection.
    app.on('upgrade', (request, socket: Socket) => {
      seen.push(String(request.url));
      socket.on('data', (data) => seen.push(data.toString())).once('end', () => socket.end());
      socket.write('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nok');
    });
    awake(appPort, 'awake');
    const client = connect(port, '127.0.0.1');
    let received = '';
    let isClosed = false;
    client.setEncoding('utf8').on('data', (text: string) => (received += text));
    client.on('error', () => undefined).once('close', () => (isClosed = true));
    client.write(`${upgrade}\r\nGET /early HTTP/1.1\r\nHost: other.example\r\n\r\n`);
    await until(() => received.endsWith('ok'));
    client.write('GET /secret HTTP/1.1\r\nHost: other.example\r\nCookie: session=1\r\n\r\n');
    await until(() => isClosed);
    expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(received).toContain('X-Own: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n');
    await delay(50);
    expect(seen).toEqual(['/socket']);
    await until(() => open === 0);
  });

  test('with content that nobody reads does not keep its connection', async () => {
    know();
    const socket = connect(port, '127.0.0.1');
    // The client reads nothing and ends nothing, until the server resets the connection.
    socket.once('error', () => undefined);
    const head = [
      'POST / HTTP/1.1',
      'Host: shop.example',
      'Connection: Upgrade',
      'Upgrade: x',
      'Content-Length: 200000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await until(() => outcomes.length > 0);
    socket.write(Buffer.alloc(100_000));
    socket.resume();
    const end = Date.now() + 10_000;
    while (!socket.closed && Date.now() < end) {
      socket.write('x');
      await delay(50);
    }
    expect(socket.closed).toBe(true);
  });

  test('with content is refused', async () => {
    let requests = 0;
    const { port: appPort, app } = await application(() => requests++);
    app.on('upgrade', () => requests++);
    awake(appPort, 'awake');
    const client = connect(port, '127.0.0.1');
    let received = '';
    client.setEncoding('utf8').on('data', (text: string) => (received += text));
    client.write(`${upgrade}Content-Length: 2\r\n\r\nok`);
    await until(() => received.startsWith('HTTP/1.1 503'));
    expect(requests).toBe(0);
  });

  test('is held, and then forwarded in both directions; it is a visit as long as it is open', async () => {
    know();
    const { port: appPort, app } = await application(() => undefined);
    app.on('upgrade', (request, socket: Socket, head: Buffer) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\nhi `,
      );
      socket.write(head);
      socket.pipe(socket);
    });
    const client = connect(port, '127.0.0.1');
    let received = '';
    client.setEncoding('utf8').on('data', (text: string) => (received += text));
    client.write(
      'GET /socket HTTP/1.1\r\nHost: shop.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello',
    );
    await until(() => open === 1);
    awake(appPort);
    await until(() => received.endsWith('\r\n\r\nhi hello'));
    expect(received).toMatch(/^HTTP\/1.1 101 /);
    client.write(' again');
    await until(() => received.endsWith('hi hello again'));
    expect(open).toBe(1);
    client.destroy();
    await until(() => open === 0);
  });

  test('is refused where a visit wakes nothing', async () => {
    know({ wakeOn: 'never' });
    const client = connect(port, '127.0.0.1');
    let received = '';
    client.setEncoding('utf8').on('data', (text: string) => (received += text));
    client.write('GET / HTTP/1.1\r\nHost: shop.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    await until(() => received.startsWith('HTTP/1.1 503'));
    expect(visited).toEqual([]);
  });
});

test('forwards requests to an awake environment, and counts none of robots as a visit', async () => {
  const { port: appPort } = await application((request, response) => response.end(request.method));
  awake(appPort, 'awake');
  expect((await send('/', { headers: html })).body).toBe('GET');
  expect(visited).toEqual([key]);
  expect((await send('/', { headers: { ...html, 'user-agent': 'Googlebot/2.1' } })).body).toBe('GET');
  expect((await send('/', { method: 'HEAD' })).status).toBe(200);
  expect(visited).toEqual([key]);
});

test('repeats a request that a pod has not answered, but none that could have changed something', async () => {
  let requests = 0;
  const { port: appPort } = await application((request, response) => {
    requests++;
    if (requests === 1 || request.method === 'POST') request.socket.destroy();
    else response.end('ok');
  });
  awake(appPort);
  expect((await send('/', { headers: { accept: '*/*' } })).body).toBe('ok');
  expect((await send('/', { method: 'POST', body: 'x' })).status).toBe(502);
});
