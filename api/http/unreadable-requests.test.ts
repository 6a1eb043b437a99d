import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { answerUnreadable } from './unreadable-requests.ts';

let server: Server;

beforeEach(async () => {
  server = createServer({ headersTimeout: 200, connectionsCheckingInterval: 50 }, (_request, response) => {
    response.end('fine');
  });
  answerUnreadable(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Sends these bytes, and returns what is received until the connection closes. */
function answerTo(bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

test.each([
  ['bytes that are not HTTP', 'hello\r\n\r\n', 400],
  ['a wrong length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
  ['headers without end', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['headers that never arrive', 'GET / HTTP/1.1\r\nHost: a\r\n', 408],
])('answers %s as JSON', async (_name, bytes, status) => {
  const [head = '', body = ''] = (await answerTo(bytes)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toContain('application/json');
  expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
});

test('closes the connection after the response, and sends nothing more', async () => {
  const answer = await answerTo('GET / HTTP/1.1\r\nHost: a\r\n\r\nhello\r\n\r\n');
  expect(answer.match(/HTTP\/1\.1/g) ?? []).toHaveLength(answer === '' ? 0 : 1);
  expect(answer).not.toContain('not a valid HTTP request');
});
