import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, jest, test } from '@jest/globals';
import { isWebSocketUpgrade } from '../shared/web-socket-upgrade.ts';
import { WebSockets } from './web-sockets.ts';

afterEach(() => {
  jest.useRealTimers();
});

test('closes a connection that stays open after its upgrade was refused', async () => {
  jest.useFakeTimers({ doNotFake: ['Date', 'performance'] });
  const server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade });
  new WebSockets().attach(server, (_request, response) => response.writeHead(404).end());
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  socket.resume().write('GET /none HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await once(socket, 'end');
  const [atServer] = await accepted;
  jest.advanceTimersByTime(9_999);
  expect(atServer.destroyed).toBe(false);
  jest.advanceTimersByTime(1);
  expect(atServer.destroyed).toBe(true);
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});
