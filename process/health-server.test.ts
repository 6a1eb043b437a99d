import { afterEach, describe, expect, test } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { HealthServer, type HealthServerOptions } from './health-server.ts';

let server: HealthServer | undefined;

async function get(path: string, options: Partial<HealthServerOptions> = {}, method = 'GET') {
  server = new HealthServer({ port: 0, host: '127.0.0.1', registry: new Registry(), ...options });
  const response = await fetch(`http://127.0.0.1:${await server.start()}${path}`, { method });
  return { status: response.status, body: await response.text(), type: response.headers.get('content-type') };
}

afterEach(() => server?.stop());

describe('checks', () => {
  const bad = () => Promise.reject(new Error('Redis is away'));
  const fine = () => undefined;

  test.each<[string, Partial<HealthServerOptions>, number, string]>([
    ['/healthz', {}, 200, 'ok\n'],
    ['/readyz', { readyz: { cluster: fine } }, 200, '[+]cluster ok\nok\n'],
    [
      '/readyz',
      { readyz: { cluster: fine, redis: bad } },
      503,
      '[+]cluster ok\n[-]redis failed: Redis is away\nfailed\n',
    ],
    ['/healthz', { readyz: { redis: bad } }, 200, 'ok\n'],
    [
      '/readyz?verbose',
      { readyz: { slow: () => new Promise<void>(() => undefined) }, checkTimeoutMs: 20 },
      503,
      '[-]slow failed: no response within 20 ms\nfailed\n',
    ],
    [
      '/healthz',
      {
        healthz: {
          loop: () => {
            throw new Error('stuck');
          },
        },
      },
      503,
      '[-]loop failed: stuck\nfailed\n',
    ],
  ])('%s %o', async (path, options, status, body) => {
    expect(await get(path, options)).toMatchObject({ status, body });
  });
});

describe('/readyz?waitSeconds', () => {
  test('answers once the process has started', async () => {
    const started = Promise.withResolvers<undefined>();
    let isReady = false;
    const isStarted = () => {
      if (!isReady) throw new Error('starting');
    };
    server = new HealthServer({
      ...{ port: 0, host: '127.0.0.1', registry: new Registry() },
      ...{ readyz: { isStarted }, started: started.promise },
    });
    const url = `http://127.0.0.1:${await server.start()}/readyz`;
    expect((await fetch(url)).status).toBe(503);
    const waiting = fetch(`${url}?waitSeconds=30`);
    expect((await fetch(`${url}?waitSeconds=0.01`)).status).toBe(503);
    isReady = true;
    started.resolve(undefined);
    expect((await waiting).status).toBe(200);
  });

  test.each(['', 'x', '-1', '0'])('does not wait for %p seconds', async (seconds) => {
    const started = new Promise(() => undefined);
    expect((await get(`/readyz?waitSeconds=${seconds}`, { started })).status).toBe(200);
  });
});

test('serves /metrics', async () => {
  const registry = new Registry();
  new Counter({ name: 'things_total', help: 'Things', registers: [registry] }).inc(3);
  const { status, body, type } = await get('/metrics', { registry });
  expect(status).toBe(200);
  expect(type).toContain('text/plain; version=0.0.4');
  expect(body).toContain('things_total 3');
});

test.each([
  ['/other', 'GET', 404],
  ['/healthz', 'POST', 405],
])('answers %s %s with %d', async (path, method, status) => {
  expect((await get(path, {}, method)).status).toBe(status);
});

test('throws from start() if the port is taken', async () => {
  const first = new HealthServer({ port: 0, host: '127.0.0.1', registry: new Registry() });
  const port = await first.start();
  const second = new HealthServer({ port, host: '127.0.0.1', registry: new Registry() });
  await expect(second.start()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.stop();
});

describe('/metrics with a token', () => {
  const metricsToken = 'a-token-of-16-characters';

  test.each([
    [undefined, 401],
    ['Bearer wrong', 401],
    [metricsToken, 401],
    [`Bearer ${metricsToken}`, 200],
    [`bearer ${metricsToken}`, 200],
  ])('and the header %p answers %d', async (authorization, status) => {
    server = new HealthServer({ port: 0, host: '127.0.0.1', registry: new Registry(), metricsToken });
    const url = `http://127.0.0.1:${await server.start()}`;
    const answer = await fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
    expect({ status: answer.status, challenge: answer.headers.get('www-authenticate') }).toEqual({
      status,
      challenge: status === 401 ? 'Bearer' : null,
    });
    expect(await answer.text()).not.toContain(metricsToken);
    // The kubelet sends no token.
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
