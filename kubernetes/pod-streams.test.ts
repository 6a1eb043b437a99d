import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { ApiError, UnreachableError } from './api-error.ts';
import { PodStreams } from './pod-streams.ts';
import { FakePodServer } from './testing/fake-pod-server.ts';

const at = { namespace: 'env-x', name: 'web-1' };
let server: FakePodServer;
let streams: PodStreams;

beforeEach(async () => {
  server = await FakePodServer.start();
  streams = new PodStreams(server.config, 'test');
});
afterEach(() => server.stop());

test('runs a command with its words in order, and loses no early frame', async () => {
  server.onConnect = ({ socket }) => socket.send(Buffer.from([1, 65]));
  const command = ['sh', '-c', 'echo "$1" & true', 'sh', 'ä&command=b'];
  const socket = await streams.exec(at, { container: 'web', command, terminal: true, input: true });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const frame = once(socket, 'message');
  socket.resume();
  expect((await frame)[0]).toEqual(Buffer.from([1, 65]));
  const [{ url, request }] = server.connections as [(typeof server.connections)[number]];
  expect(url.pathname).toBe('/api/v1/namespaces/env-x/pods/web-1/exec');
  expect(url.searchParams.getAll('command')).toEqual(command);
  expect(Object.fromEntries([...url.searchParams].filter(([name]) => name !== 'command'))).toEqual({
    ...{ container: 'web', stdin: 'true', stdout: 'true', stderr: 'false', tty: 'true' },
  });
  expect(request.headers).toMatchObject({
    authorization: 'Bearer secret-token',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
    'user-agent': 'test',
  });
  socket.terminate();
});

test('connects to a port', async () => {
  const socket = await streams.portForward(at, 5432);
  expect(server.connections[0]?.url.href).toBe('http://fake/api/v1/namespaces/env-x/pods/web-1/portforward?ports=5432');
  socket.terminate();
});

test('reports why the API server refuses, without the command', async () => {
  server.refusal = { status: 403, body: { code: 403, reason: 'Forbidden', message: 'no' } };
  const options = { container: 'web', command: ['secret'], terminal: false, input: false };
  const error: unknown = await streams.exec(at, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 403, message: expect.not.stringContaining('secret') as unknown });
});

test('reports an API server that does not answer', async () => {
  await server.stop();
  await expect(streams.portForward(at, 1)).rejects.toBeInstanceOf(UnreachableError);
  server = await FakePodServer.start();
});
