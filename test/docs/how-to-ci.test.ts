// Runs the script of docs/how-to/ci.md against a server that responds like the API.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { codeOf } from './code-blocks.ts';

const script = codeOf('docs/how-to/ci.md', 'ci');
const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

const request = '2026-11-22T10:00:00.000Z/5f0c';

/** Starts an API that answers requests for the build with each of `builds` in order, and repeats the last one. */
async function apiOf(
  builds: object[],
  refusal?: { status: number; error: string },
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '', 'http://api');
    asked.push(`${incoming.method} ${url.pathname} ${[...url.searchParams].flat().join(' ')}`.trim());
    if (incoming.headers['x-service-token'] !== 'secret') {
      response.writeHead(401).end();
    } else if (refusal) {
      response.writeHead(refusal.status).end(JSON.stringify({ error: refusal.error }));
    } else if (incoming.method === 'POST') {
      response.writeHead(202).end(JSON.stringify({ id: 'acme.shop-green', request: { id: request, build: 4 } }));
    } else if (url.pathname.endsWith('/logs')) {
      response.end('the log\n');
    } else {
      response.end(JSON.stringify(builds.length > 1 ? builds.shift() : builds[0]));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function runScript(url: string): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn('sh', ['-c', script, 'sh', url, 'acme.shop-green'], {
    env: { ...process.env, COPPICE_TOKEN: 'secret' },
  });
  const texts: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  child.stdout.on('data', (chunk: Buffer) => texts.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: Buffer.concat(texts).toString(), errors: Buffer.concat(errors).toString() };
}

test('waits for the build of its own request, and shows its log', async () => {
  const build = (result: string) => ({ number: 4, result, commit: 'c0ffee', trigger: 'build', request });
  const { url, asked } = await apiOf([build('pending'), build('running'), build('succeeded')]);
  const { code, output } = await runScript(url);
  expect({ code, output }).toEqual({ code: 0, output: 'the log\nbuild 4 of acme.shop-green: succeeded\n' });
  const wait = `GET /api/environment/acme.shop-green/build request ${request} wait 55`;
  expect(asked).toEqual([
    'POST /api/environment/acme.shop-green/build',
    ...[wait, wait, wait],
    'GET /api/environment/acme.shop-green/build/logs build 4',
  ]);
});

test('fails with the build, whatever its message says', async () => {
  const message = 'web: exit code 1: {"result":"succeeded"}';
  const { url } = await apiOf([{ number: 5, result: 'failed', message }]);
  const { code, output } = await runScript(url);
  expect(output).toContain('build 5 of acme.shop-green: failed\n');
  expect(code).toBe(1);
});

test('shows why the API refuses the build, and requests nothing more', async () => {
  const error = 'the environment has no contents. Send PUT to create them';
  const { url, asked } = await apiOf([], { status: 409, error });
  const { code, output, errors } = await runScript(url);
  expect([code, output, errors]).toEqual([1, '', expect.stringContaining(error)]);
  expect(asked).toEqual(['POST /api/environment/acme.shop-green/build']);
});
