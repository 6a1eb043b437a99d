// A Redis as redis.externalUrl can name it: with TLS by its own authority, a user and a password.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueCertificates } from '../../operator/images/builders/certificates.ts';
import { endServer, freePort } from '../local-server.ts';

let folder: string;
let port: number;
let server: ReturnType<typeof spawn>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coppice-redis-tls-'));
  port = await freePort();
  const { ca, server: pair } = await issueCertificates('localhost', new Date());
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const configuration = [
    'port 0',
    `tls-port ${port}`,
    'bind 127.0.0.1',
    `tls-ca-cert-file ${await file('ca.crt', ca)}`,
    `tls-cert-file ${await file('tls.crt', pair.certificate)}`,
    `tls-key-file ${await file('tls.key', pair.key)}`,
    'tls-auth-clients no',
    'save ""',
    'user default off',
    'user coppice on >secret ~* &* +@all',
  ];
  server = spawn('redis-server', [await file('redis.conf', configuration.join('\n'))], { stdio: 'pipe' });
  let reported = '';
  for await (const chunk of server.stdout ?? []) {
    reported += String(chunk);
    if (reported.includes('Ready to accept connections')) return;
  }
  throw new Error(`redis-server did not start: ${reported}`);
});

afterAll(async () => {
  await endServer(server, 'SIGKILL');
  await rm(folder, { recursive: true });
});

/**
 * Returns the output of a separate process, because Node reads NODE_EXTRA_CA_CERTS when it starts, as the chart sets
 * it.
 */
async function ping(password: string, environment: Record<string, string>): Promise<string> {
  const program = `
    import { connectRedis } from '${join(import.meta.dirname, '../../process/redis-connection.ts')}';
    const say = (text) => { console.log(text); process.exit(); };
    const logger = { debug: () => undefined, warn: ({ err }) => say(err.code ?? err.message) };
    const client = connectRedis({ url: 'rediss://coppice@localhost:${port}', password: process.env.REDIS_PASSWORD }, logger);
    client.once('ready', () => client.ping().then(say));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { PATH: process.env['PATH'], REDIS_PASSWORD: password, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let reported = '';
  child.stdout.on('data', (chunk: Buffer) => (reported += chunk.toString()));
  await once(child, 'close');
  return reported.trim();
}

test('is reached over TLS with its user and password by clients that trust its authority', async () => {
  const trusting = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') };
  expect(await ping('secret', trusting)).toBe('PONG');
  expect(await ping('wrong', trusting)).toMatch(/WRONGPASS/);
  expect(await ping('secret', {})).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/);
});
