// The script of docs/how-to/ci.md against an API that answers as ours does.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { codeOf } from './code-blocks.ts';

const script = codeOf('docs/how-to/ci.md', 'ci').replace('sleep 5', 'sleep 0.05');
const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

/** An API whose environment has `before`, and, after a build was asked for, each of `after` in turn, the last one for good. */
async function apiOf(before: object | undefined, after: object[]): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  let isRequested = false;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.headers['x-service-token'] !== 'secret') {
      response.writeHead(401).end();
    } else if (request.method === 'POST') {
      isRequested = true;
      response.writeHead(202).end('{}');
    } else if (request.url?.includes('/build/logs')) {
      response.end('the log\n');
    } else {
      const build = isRequested ? (after.length > 1 ? after.shift() : after[0]) : before;
      response.end(JSON.stringify({ id: 'acme.shop-green', ...(build && { build }), conditions: [] }));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function runScript(url: string): Promise<{ code: number | null; output: string }> {
  const child = spawn('sh', ['-c', script, 'sh', url, 'acme.shop-green'], {
    env: { ...process.env, COPPICE_TOKEN: 'secret' },
  });
  const texts: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => texts.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: Buffer.concat(texts).toString() };
}

test('waits for its own build, not for one from before, and shows its log', async () => {
  const before = { number: 3, result: 'succeeded' };
  const { url, asked } = await apiOf(before, [
    before,
    { number: 4, result: 'running' },
    { number: 4, result: 'succeeded' },
  ]);
  const { code, output } = await runScript(url);
  expect({ code, output }).toEqual({ code: 0, output: 'the log\nbuild 4 of acme.shop-green: succeeded\n' });
  expect(asked).toContain('GET /api/environment/acme.shop-green/build/logs?build=4');
});

test('fails with the first build of an environment', async () => {
  const { url } = await apiOf(undefined, [
    { number: 1, result: 'running' },
    { number: 1, result: 'failed' },
  ]);
  const { code, output } = await runScript(url);
  expect(output).toContain('build 1 of acme.shop-green: failed\n');
  expect(code).toBe(1);
});
