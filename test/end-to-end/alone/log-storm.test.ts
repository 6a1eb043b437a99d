import { createHash, type Hash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import { WebSocket } from 'ws';
import { type BuildLogMessage, decodeMessages } from '../../../build-logs/message.ts';
import { localhostLookup } from '../../client/local-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';

const lineCount = 100_000;

let harness: Harness;
let environment: string;

beforeAll(async () => {
  harness = await startHarness('storm');
  const origin = await harness.push('storm', 'main', {
    'compose.yaml': 'services:\n  api:\n    build: ./api\n    ports: ["3000:3000"]\n',
    // The number is unique, because a cached step would have no output.
    'api/Dockerfile': [
      'FROM node:24-slim',
      `RUN echo ${randomBytes(8).toString('hex')} && seq -f "storm line %.0f" 1 ${lineCount}`,
      'WORKDIR /app',
      'COPY *.mjs ./',
      'USER node',
      'CMD ["node", "-e", "setInterval(() => console.log(Date.now()), 1000); import(\'/app/server.mjs\')"]',
    ].join('\n'),
  });
  environment = await harness.spawn(await harness.addRepository('storm', origin), 'main');
}, 60_000);
afterAll(() => harness.remove(), 60_000);

interface Viewer {
  /** What each viewer has received of the log, without its text. */
  seqs: { last: number; gaps: number };
  /** Hash of the lines of the build's container, as the viewer received them. */
  written: Hash;
  /** Number of lines that arrived after all lines with smaller numbers. */
  stormLines: number;
  lastNumber: number;
  end: BuildLogMessage | undefined;
  connections: number;
}

function logUrl(from: number): string {
  return `${harness.connection.apiUrl.replace(/^http/, 'ws')}/api/environment/${environment}/build/logs?from=${from}`;
}

/** Connects until the end, or until `atMost` more messages were received. */
function connect(viewer: Viewer, pauseMs: number, atMost = Infinity): Promise<void> {
  const headers = { 'x-service-token': harness.client.token ?? '' };
  const socket = new WebSocket(logUrl(viewer.seqs.last), { headers, lookup: localhostLookup });
  viewer.connections++;
  let messages = 0;
  socket.on('message', (data: Buffer) => {
    if (messages >= atMost) return;
    for (const message of decodeMessages(data.toString('utf8'))) {
      take(viewer, message);
      messages++;
    }
    if (messages >= atMost) socket.terminate();
    else if (pauseMs > 0) {
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    }
  });
  // An error is followed by a close.
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

function take(viewer: Viewer, message: BuildLogMessage): void {
  if (message.seq !== viewer.seqs.last + 1) viewer.seqs.gaps++;
  viewer.seqs.last = message.seq;
  if (!('line' in message)) {
    viewer.end = message;
    return;
  }
  if (message.stage === 'build') viewer.written.update(`${message.line}\n`);
  const number = Number(/storm line (\d+)$/.exec(message.line)?.[1] ?? 0);
  if (number <= viewer.lastNumber) return;
  viewer.stormLines++;
  viewer.lastNumber = number;
}

function newViewer(): Viewer {
  const counts = { seqs: { last: 0, gaps: 0 }, stormLines: 0, lastNumber: 0, connections: 0 };
  return { ...counts, written: createHash('sha256'), end: undefined };
}

/** Connects a viewer, and reconnects it when the API is replaced meanwhile, as the documentation recommends. */
async function view(pauseMs = 0, viewer = newViewer()): Promise<Viewer> {
  await connect(viewer, pauseMs);
  if (viewer.end) return viewer;
  await delay(500);
  return view(pauseMs, viewer);
}

async function viewWithReconnects(times: number): Promise<Viewer> {
  const viewer = newViewer();
  for (let connection = 0; connection < times; connection++) await connect(viewer, 0, 7000);
  return view(0, viewer);
}

/**
 * Returns the MiB in Buffers, which contain logs that are being sent, of the replica with most. Its resident memory would
 * include the requests of other tests.
 */
async function apiBuffers(): Promise<number> {
  const selector = 'app.kubernetes.io/name=coppice-api';
  const names = await harness.kubectl(['-n', 'coppice-system', 'get', 'pods', '-l', selector, '-o', 'name']);
  const sizes = names
    .trim()
    .split('\n')
    .map(async (name) => {
      const script = "fetch('http://127.0.0.1:3001/metrics').then((answer) => answer.text()).then(console.log)";
      const metrics = await harness.kubectl(['-n', 'coppice-system', 'exec', name, '--', 'node', '-e', script]);
      return Number(/^nodejs_external_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 1024 / 1024;
    });
  return Math.max(...(await Promise.all(sizes)));
}

/** Returns the log of the build's container from the kubelet, because the Job is deleted after the build. */
function containerLog(): Promise<string> {
  const args = ['-n', namespaceOf(environment), 'logs', 'job/build-1', '-c', 'build-api', '--follow'];
  return waitFor("the build's container to write", 180, () => harness.kubectl(args, { deadline: 200 }));
}

test('sends 100,000 lines once each to 20 viewers, two of them slow, one reconnecting ten times', async () => {
  const before = await apiBuffers();
  const watching = [...Array.from({ length: 17 }, () => view()), view(50), view(200), viewWithReconnects(10)];
  let during = before;
  const all = Promise.all([containerLog(), ...watching]);
  while ((await Promise.race([all, delay(500)])) === undefined) during = Math.max(during, await apiBuffers());
  const [log, ...viewers] = await all;
  const last = viewers[0]?.seqs.last ?? 0;
  expect(last).toBeGreaterThan(lineCount);
  const written = createHash('sha256').update(log).digest('hex');
  for (const viewer of viewers) {
    expect(viewer).toMatchObject({ seqs: { last, gaps: 0 }, end: { end: { result: 'succeeded' } } });
    expect(viewer.written.digest('hex')).toBe(written);
    // When buildctl switches to another step for a moment, it may cut a line, and print it again completely
    // afterwards.
    expect(viewer.lastNumber).toBe(lineCount);
    expect(viewer.stormLines).toBeGreaterThan(lineCount - 100);
  }
  expect(viewers.at(-1)?.connections).toBeGreaterThanOrEqual(11);
  const after = await apiBuffers();
  console.log(`api buffers in MiB: before ${before.toFixed(0)}, most ${during.toFixed(0)}, after ${after.toFixed(0)}`);
  // 20 viewers use some MiB each at most: 1 MiB being sent, and what is ready for them.
  expect(during - before).toBeLessThan(120);
}, 300_000);

test('lets a page in a browser read the log, by the cookie and its own origin', async () => {
  await harness.built(environment);
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const { apiUrl } = harness.connection;
    const context = await browser.newContext();
    await context.addCookies([{ name: 'token', value: harness.client.token ?? '', url: apiUrl, httpOnly: true }]);
    const page = await context.newPage();
    await page.goto(`${apiUrl}/api/user/info`);
    const read = (url: string): Promise<{ lines: number; last: string; code: number }> =>
      page.evaluate(
        (from) =>
          new Promise((resolve) => {
            const socket = new WebSocket(from);
            let lines = 0;
            let last = '';
            socket.onmessage = ({ data }: { data: unknown }) => {
              for (const line of (data as string).split('\n')) {
                JSON.parse(line);
                lines++;
                last = line;
              }
            };
            socket.onclose = ({ code }) => resolve({ lines, last, code });
          }),
        url,
      );
    const seen = await read(logUrl(lineCount / 2));
    expect(seen.code).toBe(1000);
    expect(seen.lines).toBeGreaterThan(lineCount / 2);
    expect(seen.last).toContain('"end":{"result":"succeeded"');
    // The same cookie is refused from a page of another site.
    await page.goto((await harness.client.environment(environment)).weburl);
    expect(await read(logUrl(0))).toMatchObject({ code: 1006, lines: 0 });
  } finally {
    await browser.close();
  }
}, 120_000);

test("returns the last lines of a service's log and new ones, also while it is replaced", async () => {
  await harness.built(environment);
  const path = `/api/environment/${environment}/services/api/logs`;
  // It is 503 with Retry-After while there is no operator, which another suite may have killed.
  const tail = await waitFor('the operator to follow the log', 60, async () => {
    const answer = await harness.client.send('GET', `${path}?tail=2`);
    return answer.status === 503 ? undefined : answer;
  });
  expect(tail.status).toBe(200);
  expect(decodeMessages(tail.text.trim())).toEqual([
    expect.objectContaining({ service: 'api', stage: 'run' }),
    expect.objectContaining({ service: 'api', stage: 'run' }),
  ]);
  expect((await harness.client.send('GET', path.replace('/api/logs', '/db/logs'))).status).toBe(404);

  const pods = new Set<string | undefined>();
  const numbers: number[] = [];
  const headers = { 'x-service-token': harness.client.token ?? '' };
  const url = `${harness.connection.apiUrl.replace(/^http/, 'ws')}${path}?tail=5`;
  const socket = new WebSocket(url, { headers, lookup: localhostLookup });
  socket.on('message', (data: Buffer) => {
    for (const message of decodeMessages(data.toString('utf8'))) {
      if (!('line' in message) || !/^\d+$/.test(message.line)) continue;
      pods.add(message.pod);
      numbers.push(Number(message.line));
    }
  });
  try {
    for (let tries = 0; numbers.length < 7 && tries < 100; tries++) await delay(200);
    expect(numbers.length).toBeGreaterThanOrEqual(7);
    const [namespace = ''] = (
      await harness.kubectl(['get', 'namespaces', '-o', 'name', '-l', `coppice.dev/group=${harness.group}`])
    )
      .split('\n')
      .map((name) => name.replace('namespace/', ''))
      .filter((name) => name.startsWith('env-'));
    await harness.kubectl(['-n', namespace, 'delete', 'pod', '-l', 'coppice.dev/service=api', '--wait=false']);
    for (let tries = 0; pods.size < 2 && tries < 300; tries++) await delay(200);
    expect(pods.size).toBe(2);
    expect(new Set(numbers).size).toBe(numbers.length);
  } finally {
    socket.terminate();
  }
}, 120_000);
