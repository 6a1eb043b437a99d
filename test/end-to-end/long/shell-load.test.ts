// What shells hold of the API's memory: many sessions whose clients do not read, and a gigabyte to a slow one.
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { ReceiveWindow } from '../../../shell-protocol/windows.ts';
import { localhostLookup } from '../../client/local-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { startHarness, type Harness } from '../harness.ts';
import { smallPage } from '../small-page.ts';

const gigabyte = 1_000_000_000;
const mebibyte = 1024 * 1024;

let harness: Harness;
let url: URL;

beforeAll(async () => {
  harness = await startHarness('shell-load');
  const origin = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url: origin, branch: 'main', files: smallPage('load') });
  const id = await harness.spawn(await harness.addRepository('shop', origin), 'main');
  await harness.built(id);
  url = new URL(`/api/environment/${id}/services/web/exec`, harness.connection.apiUrl);
  url.protocol = 'ws:';
}, 400_000);

afterAll(() => harness.remove(), 60_000);

/** Starts a command whose output nobody reads yet. */
async function start(command: readonly string[]): Promise<WebSocket> {
  const options = { headers: { 'x-service-token': harness.client.token }, lookup: localhostLookup };
  const socket = new WebSocket(url, options);
  await once(socket, 'open');
  socket.send(JSON.stringify({ start: { command, input: false } }));
  return socket;
}

/** Returns the memory of the API's replicas together, in bytes. */
async function memory(): Promise<number> {
  const names = ['--selector', 'app.kubernetes.io/name=coppice-api', '--output', 'name'];
  const pods = (await harness.kubectl(['get', 'pods', '--namespace', 'coppice-system', ...names])).trim().split('\n');
  const read = ['--', 'sh', '-c', 'grep ^RssAnon: /proc/1/status'];
  const of = (pod: string) => harness.kubectl(['exec', '--namespace', 'coppice-system', pod, ...read]);
  const sizes = await Promise.all(
    pods.map(async (pod) => 1024 * Number(/^RssAnon:\s+(\d+) kB/.exec(await of(pod))?.[1])),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('24 clients that read nothing of a gigabyte cost little memory', async () => {
  const before = await memory();
  const sockets = await Promise.all(
    Array.from({ length: 24 }, () => start(['head', '-c', String(gigabyte), '/dev/zero'])),
  );
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const growth = (await memory()) - before;
  for (const socket of sockets) socket.terminate();
  expect(growth / mebibyte).toBeLessThan(64);
}, 120_000);

test('a gigabyte arrives whole at a slow reader, and memory stays bounded', async () => {
  const before = await memory();
  const socket = await start(['head', '-c', String(gigabyte), '/dev/zero']);
  const window = new ReceiveWindow((confirmed) => {
    // Slow from time to time.
    const delay = received % (50 * mebibyte) < mebibyte ? 500 : 0;
    setTimeout(() => socket.send(JSON.stringify({ confirmed })), delay);
  });
  let received = 0;
  let last = '';
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) last = data.toString();
    else {
      received += data.length - 1;
      window.processed(data);
    }
  });
  let max = 0;
  await waitFor('the end', 400, async () => {
    max = Math.max(max, await memory());
    return last.includes('exit') || undefined;
  });
  expect([received, last]).toEqual([gigabyte, '{"exit":{"code":0}}']);
  // Node collects buffers only after tens of megabytes, and other tests use the API too: 260 MiB were measured.
  expect((max - before) / mebibyte).toBeLessThan(384);
  socket.close();
}, 450_000);
