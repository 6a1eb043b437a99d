// The command line as the server delivers it, in processes of its own, against the API of the cluster.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { RestClient } from '../client/rest-client.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { run } from '../support/run.ts';
import { codeOf } from '../docs/code-blocks.ts';
import { pageWith, startHarness, type Harness } from './harness.ts';

const guide = 'docs/how-to/use-the-command-line.md';
const [install, branchOfGuide] = [codeOf(guide, 'install'), codeOf(guide, 'branch')];

let harness: Harness;
let folder: string;
let checkout: string;
let token: string;
let repository: string;
let commit: string;

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Runs a shell script in the checkout, as the signed-in user unless `env` says otherwise. */
async function sh(script: string, env: Record<string, string> = {}, cwd = checkout): Promise<Ran> {
  const child = spawn('sh', ['-euc', script], {
    cwd,
    env: {
      HOME: folder,
      PATH: `${join(folder, '.local/bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      ...{ COPPICE_URL: harness.connection.apiUrl, COPPICE_TOKEN: token, server: harness.connection.apiUrl },
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

beforeAll(async () => {
  harness = await startHarness('cli');
  token = harness.client.token ?? '';
  folder = mkdtempSync(join(tmpdir(), 'cli-'));
  checkout = join(folder, 'shop');
  mkdirSync(checkout);
  const origin = await harness.push('shop', 'main');
  repository = await harness.addRepository('shop', origin);
  await run('git', ['clone', '--quiet', '--branch', 'main', origin, '.'], { cwd: checkout });
  await run('git', ['checkout', '--quiet', '-b', 'feature/cli'], { cwd: checkout });
  commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: checkout })).trim();
  const installed = await sh(install, {}, folder);
  if (installed.code !== 0) throw new Error(`the command line was not installed: ${installed.err}`);
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await harness.remove();
}, 60_000);

test('builds and opens the environment of the branch that is checked out', async () => {
  const { code, out, err } = await sh(branchOfGuide);
  expect(code === 0 ? '' : err).toBe('');
  expect(err).toMatch(/build 1 builds images[\s\S]*build 1 starts services/);
  const address = out.trim().split('\n').at(-1) ?? '';
  expect(out).toMatch(/^ENVIRONMENT +REF +STATUS/);
  await pageWith(address, 'Hello from the API');
}, 400_000);

test('shows the same at a terminal, in its width and with colours only there', async () => {
  const at = async (command: string, env = {}) => {
    const { out } = await sh(`script -qec ${JSON.stringify(command)} /dev/null`, { TERM: 'xterm', ...env });
    return out.replaceAll('\r\n', '\n');
  };
  const plain = await sh('coppice env get');
  expect((await at('coppice env get')).replaceAll(/\d+[smhd]/g, '')).toBe(plain.out.replaceAll(/\d+[smhd]/g, ''));
  const log = 'coppice logs --service web --tail 1';
  expect(await at(log)).toContain('\u001b[2m');
  expect(await at(log, { NO_COLOR: '1' })).not.toContain('\u001b');
  expect((await sh(log)).out).not.toContain('\u001b');
}, 60_000);

test('follows a log over restarts of the server, and loses and doubles no line', async () => {
  const whole = (await sh('coppice logs')).out.trimEnd().split('\n').slice(0, -1);
  const { port, stop, cuts } = await cuttingProxy(harness.connection.apiUrl);
  const host = new URL(harness.connection.apiUrl);
  const { code, out, err } = await sh('coppice logs -f', { COPPICE_URL: `http://${host.hostname}:${port}` });
  stop();
  expect({ code, lines: out.trimEnd().split('\n') }).toEqual({ code: 0, lines: whole });
  expect(cuts()).toBeGreaterThan(0);
  expect(err).toContain('connecting again');
}, 120_000);

/** Passes connections on, and resets the first WebSockets after some bytes of the answer, as a restart would. */
async function cuttingProxy(to: string): Promise<{ port: number; stop: () => void; cuts: () => number }> {
  const { hostname, port } = new URL(to);
  let cut = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port === '' ? 80 : port), hostname.endsWith('localhost') ? '127.0.0.1' : hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => [client, upstream].forEach((one) => one.destroy()));
    }
    let bytes = 0;
    let isCut = false;
    let isWebSocket = false;
    const allowed = 600 + 400 * cut;
    client.on('data', (chunk: Buffer) => {
      isWebSocket ||= /^upgrade: websocket/im.test(chunk.toString('latin1'));
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      const left = isWebSocket && cut < 4 ? allowed - bytes : Infinity;
      bytes += chunk.length;
      if (isCut) return;
      if (chunk.length < left) return void client.write(chunk);
      isCut = true;
      // The rest of a chunk that ends the log must not arrive.
      cut++;
      client.write(chunk.subarray(0, Math.max(left, 0)), () => client.resetAndDestroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, stop, cuts: () => cut };
}

const scriptSchema = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join('\n'))]);
const examples: Record<string, { path: string[]; env: () => Record<string, string> }> = {
  'github-actions': {
    path: ['jobs', 'environment', 'steps', '0', 'run'],
    env: () => ({ GITHUB_REF_NAME: 'feature/cli', GITHUB_SHA: commit, GITHUB_STEP_SUMMARY: '/dev/null' }),
  },
  'gitlab-ci': {
    path: ['preview', 'script'],
    env: () => ({ CI_COMMIT_BRANCH: 'feature/cli', CI_COMMIT_SHA: commit }),
  },
  'azure-pipelines': {
    path: ['jobs', '0', 'steps', '2', 'bash'],
    env: () => ({ BUILD_SOURCEBRANCH: 'refs/heads/feature/cli', BUILD_SOURCEVERSION: commit }),
  },
  'bitbucket-pipelines': {
    path: ['pipelines', 'default', '0', 'step', 'script'],
    env: () => ({ BITBUCKET_BRANCH: 'feature/cli', BITBUCKET_COMMIT: commit }),
  },
};

/** Returns the script of an example's step. */
function scriptOf(name: string, path: readonly string[]): string {
  let at: unknown = parse(readFileSync(join(REPOSITORY_ROOT, 'examples/ci', `${name}.yaml`), 'utf8'));
  for (const key of path)
    at = z
      .looseObject({ [key]: z.unknown() })
      .or(z.array(z.unknown()))
      .parse(at)[key as never];
  return scriptSchema.parse(at);
}

test.each(Object.entries(examples))(
  'the script of examples/ci/%s.yaml builds this commit and prints the address',
  async (name, { path, env }) => {
    const own = mkdtempSync(join(folder, 'ci-'));
    // Bash, as these systems use.
    writeFileSync(join(own, 'script'), scriptOf(name, path));
    const script = 'exec bash -eo pipefail script';
    const { code, out, err } = await sh(script, { CI: 'true', COPPICE_REPOSITORY: repository, ...env() }, own);
    expect({ code, out, err }).toMatchObject({ code: 0, out: expect.stringMatching(/^http:\/\/\S+\n/) });
  },
  200_000,
);

test('fails with the end of the log if the build fails, and with 4 if the token has ended', async () => {
  await harness.push('shop', 'broken', {
    'web/Dockerfile': 'FROM node:24-slim\nRUN echo the-reason-is-here && exit 7\n',
  });
  const failed = await sh('coppice env spawn --branch broken --wait');
  expect(failed).toMatchObject({ code: 1, out: '', err: expect.stringContaining('the-reason-is-here') });
  const late = await sh(`coppice env wait ${repository}-broken --for healthy --timeout 1`);
  expect([1, 8]).toContain(late.code);
  const password = randomUUID();
  const { email = '' } = await harness.newUser(password);
  // Another login than the one that removes the user's groups.
  const other = new RestClient(harness.connection.apiUrl);
  await other.login(email, password);
  await other.send('POST', '/api/user/logout');
  const ended = await sh('coppice env list', { COPPICE_TOKEN: other.token ?? '' });
  expect(ended).toMatchObject({ code: 4, out: '', err: expect.stringContaining('coppice login') });
}, 400_000);
