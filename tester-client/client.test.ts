import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { TesterClient } from './client.ts';
import { TesterBusyError, TesterUnreachableError, TestRefusedError, UnknownRunError } from './errors.ts';
import { textOf } from './interface.ts';

let server: Server | undefined;
let asked: { request: string; token: string | undefined; body: string }[];

afterEach(async () => {
  const closing = server;
  server = undefined;
  closing?.closeAllConnections();
  await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)));
});

/** Returns a client of a server that gives this response to every request. */
async function answering(status: number, body: string | object): Promise<TesterClient> {
  asked = [];
  const listening = createServer((request, response) => {
    void textOfRequest(request).then((text) => {
      asked.push({
        request: `${request.method ?? ''} ${request.url ?? ''}`,
        token: request.headers.authorization,
        body: text,
      });
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  return new TesterClient({
    url: new URL(`http://127.0.0.1:${port}`),
    readToken: () => Promise.resolve('shared'),
    timeoutMs: 2000,
  });
}

async function textOfRequest(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

const owner = { tenant: 'account alice', group: 'acme' };
const run = { ID: 'r1', Secret: 's&cret' };

describe('the client', () => {
  test('starts a run with its type and params', async () => {
    const tester = await answering(202, { type: 'http', params: {}, ...run });
    expect(await tester.run('http', { url: 'http://a.example/', paths: [1] }, owner)).toEqual(run);
    expect(asked).toEqual([
      {
        request: 'POST /test/run',
        token: 'Bearer shared',
        body: '{"type":"http","params":{"url":"http://a.example/","paths":[1]},"tenant":"account alice","group":"acme"}',
      },
    ]);
  });

  test('requests status and results by ID and Secret', async () => {
    const status = { ...run, Status: 'failed', message: 'the tester was restarted' };
    const tester = await answering(200, status);
    expect(await tester.status(run)).toEqual({ Status: 'failed', message: 'the tester was restarted' });
    expect(asked[0]?.request).toBe('GET /test/status?ID=r1&Secret=s%26cret');
  });

  test('returns results as items whose texts can be read', async () => {
    const items = [
      { Label: 'passed', Type: 'string', Content: Buffer.from('true').toString('base64') },
      { Label: 'shot', Type: 'image', Content: 'iVBORw==' },
    ];
    const tester = await answering(200, { ...run, result: items });
    const read = await tester.results(run);
    expect(read).toEqual(items);
    expect([textOf(read, 'passed'), textOf(read, 'shot'), textOf(read, 'none')]).toEqual([
      'true',
      undefined,
      undefined,
    ]);
  });
});

describe('the client throws', () => {
  test.each<[number, string | object, 'run' | 'status' | 'results', new (...all: never[]) => Error, string]>([
    [422, { error: 'no such type' }, 'run', TestRefusedError, 'no such type'],
    [422, 'nonsense', 'run', TestRefusedError, 'no reason was given'],
    [429, '', 'run', TesterBusyError, 'full'],
    [404, '', 'status', UnknownRunError, 'no longer'],
    [404, '', 'run', TesterUnreachableError, 'status 404 to /test/run'],
    [400, '', 'run', TesterUnreachableError, 'status 400'],
    [401, '', 'status', TesterUnreachableError, 'status 401'],
    [503, '', 'results', TesterUnreachableError, 'status 503'],
    [200, { Status: 'lost' }, 'status', TesterUnreachableError, 'is not valid'],
    [200, '{', 'status', TesterUnreachableError, 'is not valid'],
    [200, 'x'.repeat(70_000), 'status', TesterUnreachableError, 'more than 65536 bytes'],
  ])('after an answer %i, case %#', async (status, body, what, type, message) => {
    const tester = await answering(status, body);
    const asking =
      what === 'run' ? tester.run('http', {}, owner) : what === 'status' ? tester.status(run) : tester.results(run);
    const error = await asking.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(type);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toMatch(/s&cret|s%26cret|shared/);
  });

  test('if nobody listens', async () => {
    const tester = new TesterClient({ url: new URL('http://127.0.0.1:9'), readToken: () => Promise.resolve('shared') });
    await expect(tester.status(run)).rejects.toThrow(/127.0.0.1:9 did not respond to \/test\/status: (?!.*s&cret)/);
  });
});
