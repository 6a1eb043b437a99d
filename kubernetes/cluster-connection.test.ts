import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connectCluster } from './cluster-connection.ts';

let folder: string;
let clock: number;
let variables: Record<string, string | undefined>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-connection-'));
  clock = 0;
  variables = { HOME: folder, KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
});

afterEach(() => rmSync(folder, { recursive: true }));

const connect = () => connectCluster({ variables, accountFolder: folder, now: () => clock });

function mount(token: string): void {
  writeFileSync(join(folder, 'token'), `${token}\n`);
  writeFileSync(join(folder, 'ca.crt'), `authority of ${token}`);
}

async function applied(connection: Awaited<ReturnType<typeof connect>>): Promise<RequestOptions> {
  const options: RequestOptions = { headers: { accept: 'application/json' } };
  await connection.applyToHTTPSOptions(options);
  return options;
}

describe("the pod's service account", () => {
  it('authenticates the client, and the server by its authority', async () => {
    mount('first');
    const connection = await connect();
    expect(connection.getCurrentCluster()).toEqual({ server: 'https://10.96.0.1:443' });
    const options = await applied(connection);
    expect(options.headers).toEqual({ accept: 'application/json', authorization: 'Bearer first' });
    expect(String(options.ca)).toBe('authority of first');
  });

  it('has the token that the kubelet mounted last, a minute later', async () => {
    mount('first');
    const connection = await connect();
    await applied(connection);
    mount('second');
    clock = 59_999;
    expect((await applied(connection)).headers).toMatchObject({ authorization: 'Bearer first' });
    clock = 60_000;
    const options = await applied(connection);
    expect(options.headers).toMatchObject({ authorization: 'Bearer second' });
    expect(String(options.ca)).toBe('authority of second');
  });

  it('fails a request rather than using a token that can no longer be read', async () => {
    mount('first');
    const connection = await connect();
    await applied(connection);
    rmSync(join(folder, 'token'));
    clock = 60_000;
    await expect(applied(connection)).rejects.toThrow('ENOENT');
  });

  it('is reached at an IPv6 address', async () => {
    mount('first');
    variables['KUBERNETES_SERVICE_HOST'] = 'fd00::1';
    expect((await connect()).getCurrentCluster()).toEqual({ server: 'https://[fd00::1]:443' });
  });

  it('gives way to a kubeconfig', async () => {
    mount('first');
    const kubeconfig = join(folder, '.kube', 'config');
    mkdirSync(join(folder, '.kube'));
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'other', cluster: { server: 'https://other.example.com' } }],
        users: [{ name: 'user', user: {} }],
        contexts: [{ name: 'context', context: { cluster: 'other', user: 'user' } }],
        'current-context': 'context',
      }),
    );
    variables['KUBECONFIG'] = kubeconfig;
    const former = process.env['KUBECONFIG'];
    process.env['KUBECONFIG'] = kubeconfig;
    try {
      expect((await connect()).getCurrentCluster()).toMatchObject({ server: 'https://other.example.com' });
    } finally {
      if (former === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = former;
    }
  });
});
