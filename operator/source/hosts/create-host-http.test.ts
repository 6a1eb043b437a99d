import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createHostHttp } from './create-host-http.ts';
import { sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

let local: LocalHost;
let port: string;

beforeAll(async () => {
  local = await startLocalHost();
  local.answer((_, response) => sendJson(response, {}));
  port = new URL(local.url).port;
});

afterAll(() => local.close());

function ask(hostname: string, allowedCidrs: string[]): Promise<unknown> {
  const sources = { allowedCidrs, ports: [Number(port)], timeoutSeconds: 2 };
  const http = createHostHttp({ sources }, () => new Date());
  const url = new URL(`http://${hostname}:${port}/api`);
  return http.request({ method: 'GET', url, headers: { authorization: 'Bearer tok' } }, z.object({}));
}

test.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', '0.0.0.0'])(
  'does not connect to %s',
  async (hostname) => {
    await expect(ask(hostname, ['10.0.0.0/8'])).rejects.toMatchObject({ reason: 'AddressRefused' });
    expect(local.requests).toEqual([]);
  },
);

test('connects if an administrator permits the network', async () => {
  await ask('127.0.0.1', ['127.0.0.0/8']);
  expect(local.requests).toHaveLength(1);
});
