// Runs commands against the whole API and a fake of the API server's connections into pods.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startServer, stopServer } from '../../api/http/server.ts';
import { startShellApi, type PodConnection, type ShellApi } from '../../api/testing/shell-api.ts';
import type { TestApi } from '../../api/testing/test-api.ts';
import { Client } from '../api/client.ts';
import { forwardPorts } from '../api/forward.ts';
import { PodSession } from '../api/pod-session.ts';
import { FakeTerminal, runCommand, type RunOptions } from '../testing/run-command.ts';
import { forwardedPort } from './port-forward.ts';

let pods: ShellApi['server'];
let api: TestApi;
let token: string;
let server: Server;
let url: string;

beforeEach(async () => {
  ({ api, server: pods, token } = await startShellApi());
  const started = await startServer(api.app, api.webSockets, 0);
  ({ server } = started);
  url = `http://localhost:${started.port}`;
});
afterEach(async () => {
  await stopServer(server, api.webSockets, 100);
  await pods.stop();
});

const run = (args: string, options: RunOptions = {}) =>
  runCommand(args.split(' '), { env: { COPPICE_URL: url, COPPICE_TOKEN: token }, ...options });

/** Runs what the container does with each frame that it receives. */
function container(act: (frame: Buffer, connection: PodConnection) => void): void {
  pods.onConnect = (connection) => connection.socket.on('message', (frame: Buffer) => act(frame, connection));
}
const inputEnd = Buffer.from([255, 0]);
const exit = (code: number) => {
  const details = { causes: [{ reason: 'ExitCode', message: String(code) }] };
  return Buffer.from(`\u0003${JSON.stringify(code === 0 ? { status: 'Success' } : { status: 'Failure', details })}`);
};

describe('exec', () => {
  test('passes on bytes both ways, keeps errors separate, and returns the exit code', async () => {
    container((frame, { socket }) => {
      if (frame.equals(inputEnd)) {
        socket.send(Buffer.from('\u0002warning'));
        socket.send(exit(3));
      } else socket.send(Buffer.concat([Buffer.from([1]), frame.subarray(1)]));
    });
    const input = 'a\u0000b\r\n'.repeat(100_000);
    const ran = await run('exec acme.shop-main web -- cat -A', { input });
    expect([ran.out.length, ran.code, ran.err]).toEqual([input.length, 3, 'warning']);
    expect(ran.out === input).toBe(true);
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 3, err: 'warning' });
    const { searchParams } = pods.connections[0]?.url ?? new URL('http://none');
    expect(searchParams.getAll('command')).toEqual(['cat', '-A']);
    expect([searchParams.get('tty'), searchParams.get('stdin')]).toEqual(['false', 'true']);
  });

  test('leaves standard input alone on request', async () => {
    pods.onConnect = ({ socket }) => socket.send(exit(0));
    expect(await run('exec -n acme.shop-main web -- true', { input: 'x' })).toEqual({ code: 0, out: '', err: '' });
    expect(pods.connections[0]?.url.searchParams.get('stdin')).toBe('false');
  });

  test('is a shell in raw mode at a terminal, which reports its size', async () => {
    const terminal = new FakeTerminal();
    const frames: string[] = [];
    container((frame, { socket }) => {
      frames.push(frame.toString('latin1'));
      if (frames.length === 2) {
        expect(terminal.modes).toEqual([true]);
        terminal.stdin.write('\u0003');
      }
      if (frames.length === 3) {
        terminal.size = { columns: 100, rows: 40 };
        terminal.resized();
      }
      if (frames.length === 4) socket.send(exit(130));
    });
    expect(await run('exec acme.shop-main web', { terminal })).toMatchObject({ code: 130 });
    expect(frames).toEqual([
      '\u0004{"Width":80,"Height":24}',
      '\u0004{"Width":80,"Height":24}',
      '\u0000\u0003',
      '\u0004{"Width":100,"Height":40}',
    ]);
    expect(terminal.modes).toEqual([true, false]);
  });

  test('has no terminal if that is requested', async () => {
    pods.onConnect = ({ socket }) => socket.send(exit(0));
    const terminal = new FakeTerminal();
    expect((await run('exec -T acme.shop-main web -- true', { terminal })).code).toBe(0);
    expect(pods.connections[0]?.url.searchParams.get('tty')).toBe('false');
    expect(terminal.modes).toEqual([]);
  });

  test.each([
    ['acme.shop-main wbe', 'acme.shop-main has no service wbe. Did you mean web?'],
    ['acme.shop-mian web', 'Did you mean acme.shop-main?'],
    ['acme.shop-main web --pod x', 'no pod x of the service web runs. These do: web-1'],
  ])('reports what is wrong with %s', async (args, message) => {
    const { code, err } = await run(`exec ${args}`);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });

  test('reports why a command cannot be run', async () => {
    pods.onConnect = ({ socket }) => {
      const message = 'exec: "sh": executable file not found in $PATH';
      socket.send(Buffer.from(`\u0003${JSON.stringify({ status: 'Failure', message })}`));
    };
    const { code, err } = await run('exec acme.shop-main web');
    expect([code, err]).toEqual([1, expect.stringContaining('the image has no program sh')]);
  });

  test('reports a server that accepts connections and does not answer', async () => {
    const silent = createServer();
    const closeAll: (() => void)[] = [];
    silent.on('connection', (socket) => closeAll.push(() => socket.destroy()));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const client = new Client({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, token });
    const options = { client, path: '/', onData: () => Promise.resolve(), handshakeTimeoutMs: 100 };
    await expect(PodSession.open(options)).rejects.toThrow('cannot be reached: Opening handshake has timed out');
    for (const close of closeAll) close();
    silent.close();
  });

  test('reports that the session was ended', async () => {
    pods.onConnect = () => setTimeout(() => api.webSockets.close(), 50);
    const { code, err } = await run('exec acme.shop-main web');
    expect([code, err]).toEqual([1, expect.stringContaining('the server is restarting')]);
  });
});

describe('port-forward', () => {
  let stop: AbortController;
  let noted: string;
  let forwarding: Promise<void>;
  beforeEach(() => {
    stop = new AbortController();
    noted = '';
  });

  async function forward(remote = 5432): Promise<number> {
    const sink = {
      write: (text: string) => {
        noted += text;
        return true;
      },
      once: () => undefined,
    };
    const request = { service: 'web', pod: undefined, ports: [{ local: 0, remote }] };
    forwarding = forwardPorts(
      new Client({ url, token }),
      { err: sink } as never,
      'acme.shop-main',
      request,
      stop.signal,
    );
    for (let tries = 0; !noted.includes(' leads to '); tries++) {
      if (tries > 200) throw new Error('nothing listens');
      await Promise.race([forwarding, new Promise((resolve) => setTimeout(resolve, 10))]);
    }
    return Number(/127\.0\.0\.1:(\d+)/.exec(noted)?.[1]);
  }

  async function finish(): Promise<void> {
    stop.abort();
    await forwarding;
  }

  /** Resolves with everything that arrives before the end. */
  const received = (socket: Socket) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    return new Promise<Buffer>((resolve) => socket.once('close', () => resolve(Buffer.concat(chunks))));
  };

  test('connects each connection, and ends it when either side does', async () => {
    const large = Buffer.alloc(2_000_000, 7);
    pods.onConnect = ({ socket }) => {
      socket.send(Buffer.from([0, 0x38, 0x15]));
      let echoed = 0;
      socket.on('message', (frame: Buffer) => {
        socket.send(frame);
        echoed += frame.length - 1;
        if (echoed === large.length) socket.close();
      });
    };
    const port = await forward();
    const [one, two] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    const [ofOne, ofTwo] = [received(one), received(two)];
    one.write(large);
    two.end('x');
    // The second one is answered although it has ended its own direction.
    expect((await ofTwo).toString()).toBe('x');
    // The pod has ended the first one.
    expect((await ofOne).equals(large)).toBe(true);
    await finish();
  });

  test('reports a port at which nothing listens, and goes on', async () => {
    pods.onConnect = ({ socket }) => {
      socket.send(Buffer.from([1, 0x38, 0x15]));
      socket.send(Buffer.from('\u0001connect: connection refused'));
    };
    const port = await forward();
    for (let count = 0; count < 2; count++) await once(connect(port, '127.0.0.1').resume(), 'close');
    expect(noted).toContain('port 5432: nothing listens at this port in the pod');
    await finish();
  });

  test('reports a refusal before anything connects', async () => {
    expect(await run('port-forward acme.shop-main none 1:2')).toMatchObject({ code: 1 });
  });

  test('reports a local port that is in use', async () => {
    const taken = new URL(url).port;
    const { code, err } = await run(`port-forward acme.shop-main web ${taken}:80`);
    expect([code, err]).toEqual([1, expect.stringContaining(`the local port ${taken} cannot be opened`)]);
  });

  test.each([
    ['5432', { local: 5432, remote: 5432 }],
    ['15432:5432', { local: 15_432, remote: 5432 }],
    [':5432', { local: 0, remote: 5432 }],
  ])('reads %s', (text, port) => expect(forwardedPort(text)).toEqual(port));

  test.each(['', ':', '0', '1:0', '70000', 'a:1', '1:2:3', '-1:2'])('refuses %j', (text) => {
    expect(() => forwardedPort(text)).toThrow('is not a port');
  });
});
