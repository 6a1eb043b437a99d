// What the bundled Redis has stored is read by Valkey, and the reverse: helm upgrade and helm rollback replace one by the other.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { objectOf, renderObjects } from '../chart/render.ts';
import { MIN_VALUES } from '../chart/sample-values.ts';
import { ensureBaseImages } from '../cluster/images/base-images.ts';
import { startProgress } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { IMAGES } from '../cluster/versions.ts';
import { waitFor } from '../support/wait-for.ts';

const workloadSchema = z.looseObject({
  template: z.looseObject({
    spec: z.looseObject({
      containers: z.tuple([z.looseObject({ command: z.array(z.string()), args: z.array(z.string()) })]),
    }),
  }),
});

const password = 'secret';
let folder: string;
let script: string;
let volume: string;
let container: string | undefined;

beforeAll(async () => {
  await ensureBaseImages(['redis', 'valkey'], startProgress());
  const { spec } = objectOf(await renderObjects(MIN_VALUES), 'StatefulSet', 'coppice-redis');
  const [{ command, args }] = workloadSchema.parse(spec).template.spec.containers;
  expect(command).toEqual(['/bin/sh', '-c']);
  [script = ''] = args;
  folder = mkdtempSync(join(tmpdir(), 'coppice-stored-'));
  // Values of variables are in a file, because arguments are visible in process listings.
  writeFileSync(join(folder, 'environment'), `REDIS_PASSWORD=${password}\nREDISCLI_AUTH=${password}\n`, {
    mode: 0o600,
  });
  volume = (await run('docker', ['volume', 'create'])).trim();
}, 180_000);

afterAll(async () => {
  await stop();
  await run('docker', ['volume', 'rm', volume]);
  rmSync(folder, { recursive: true });
}, 60_000);

/** Starts a server on the stored data as the chart does, in place of the one before, and waits until it has read them. */
async function start(image: string): Promise<void> {
  await stop();
  const variables = ['--env-file', join(folder, 'environment')];
  const args = ['--network', 'none', '--volume', `${volume}:/data`, '--user', '999:999', ...variables];
  container = (
    await run('docker', ['run', '--detach', ...args, '--entrypoint', '/bin/sh', image, '-c', script])
  ).trim();
  await waitFor(`${image} to read the data`, 20, async () => ((await client('ping')) === 'PONG' ? true : undefined));
}

async function stop(): Promise<void> {
  if (container === undefined) return;
  await run('docker', ['stop', container]);
  await run('docker', ['rm', container]);
  container = undefined;
}

async function client(...args: string[]): Promise<string> {
  const program = 'exec "$(command -v valkey-cli || command -v redis-cli)" "$@"';
  return (await run('docker', ['exec', container ?? '', 'sh', '-c', program, 'sh', ...args])).trim();
}

/** Returns what a login, a log and a counter contain, which all servers wrote one after the other. */
const stored = async () => [
  await client('get', 'login'),
  await client('xlen', 'log'),
  await client('get', 'counter'),
  Number(await client('pttl', 'login')) > 0,
];

async function write(): Promise<void> {
  await client('set', 'login', 'ann', 'EX', '3600');
  await client('xadd', 'log', '*', 'line', 'a line');
  await client('incr', 'counter');
}

/** Replaces the files by new ones, as a server does by itself when they have grown. */
async function rewrite(): Promise<void> {
  await client('bgrewriteaof');
  await waitFor('the files to be rewritten', 20, async () => {
    const state = await client('info', 'persistence');
    return /aof_rewrite_in_progress:0/.test(state) && /aof_rewrite_scheduled:0/.test(state) ? true : undefined;
  });
}

test('an upgrade from Redis to Valkey and a rollback lose nothing, also after the files were rewritten', async () => {
  let writes = 0;
  for (const image of [IMAGES.redis, IMAGES.valkey, IMAGES.redis, IMAGES.valkey]) {
    await start(image);
    if (writes > 0) expect(await stored()).toEqual(['ann', `${writes}`, `${writes}`, true]);
    await write();
    writes += 1;
    await rewrite();
  }
  expect(await client('info', 'server')).toContain('server_name:valkey');
}, 120_000);
