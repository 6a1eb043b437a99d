import { request } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { TokenServer } from './server.ts';
import type { TokenRequest } from './token-endpoint.ts';

const logger = pino({ level: 'silent' });
let server: TokenServer | undefined;
afterEach(() => server?.stop());

async function start(answer: (asked: TokenRequest) => Promise<{ status: number; body: object }>): Promise<number> {
  server = new TokenServer({ answer }, logger);
  return server.start(0, '127.0.0.1');
}

interface Answer {
  status: number | undefined;
  connection: string | undefined;
  text: string;
}

function ask(port: number, headers: Record<string, string>, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path: '/registry/token?a=b', headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('passes on method, path and credentials', async () => {
  const port = await start((asked) => Promise.resolve({ status: 200, body: asked }));
  const { status, text } = await ask(port, { authorization: 'Basic abc' });
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({ method: 'GET', url: '/registry/token?a=b', authorization: 'Basic abc' });
});

test('closes a connection whose request has a body, without reading it', async () => {
  const port = await start(() => Promise.resolve({ status: 405, body: {} }));
  expect(await ask(port, { 'content-length': '3' }, 'POST', 'a=b')).toMatchObject({ status: 405, connection: 'close' });
});

test('refuses headers that are too large', async () => {
  const port = await start(() => Promise.resolve({ status: 200, body: {} }));
  expect((await ask(port, { authorization: 'a'.repeat(10_000) })).status).toBe(431);
});

test('answers a failure without its message', async () => {
  const port = await start(() => Promise.reject(new Error('the key is secret')));
  const { status, text } = await ask(port, {});
  expect([status, text.includes('secret')]).toEqual([500, false]);
});
