import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { ResultSlots } from './result-slots.ts';

type Response = Pick<ServerResponse, 'once' | 'destroy' | 'closed'>;

function answer(closed = false): Response & EventEmitter {
  const events = new EventEmitter() as Response & EventEmitter;
  return Object.assign(events, { closed, destroy: () => events as never });
}

const ready = () => Promise.resolve('results');

test('holds a slot until the response is read: one per account, 2 in total', async () => {
  const locations = new ResultSlots();
  const answers = ['ann', 'ben'].map((accountId) => ({ accountId, response: answer() }));
  for (const one of answers) expect(await locations.hold(one, ready)).toBe('results');
  const hold = (accountId: string) => locations.hold({ accountId, response: answer() }, ready);
  await expect(hold('ann')).rejects.toThrow('another response with test results is being sent to you');
  await expect(hold('eve')).rejects.toThrow('test results are being sent to other callers');
  answers[0]?.response.emit('close');
  expect(await hold('eve')).toBe('results');
  await expect(hold('ann')).rejects.toMatchObject({ status: 503 });
});

test('releases the slot after a failure', async () => {
  const locations = new ResultSlots();
  const response = answer();
  await expect(
    locations.hold({ accountId: 'ann', response }, () => Promise.reject(new Error('a bug'))),
  ).rejects.toThrow();
  response.emit('close');
  expect(await locations.hold({ accountId: 'ann', response: answer() }, ready)).toBe('results');
});

test('takes no slot for a connection that closed before', async () => {
  const locations = new ResultSlots();
  await expect(locations.hold({ accountId: 'ann', response: answer(true) }, ready)).rejects.toMatchObject({
    status: 503,
  });
  expect(await locations.hold({ accountId: 'ann', response: answer() }, ready)).toBe('results');
});

test('ends a response that is not read, and releases its slot', async () => {
  const locations = new ResultSlots(100);
  const large = Buffer.alloc(64 * 1024 * 1024);
  const started = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => {
    void locations.hold({ accountId: 'ann', response }, ready).then(() => {
      response.end(large);
      started.resolve(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const response = await started.promise;
  await expect(locations.hold({ accountId: 'ann', response: answer() }, ready)).rejects.toMatchObject({ status: 503 });
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
  expect(await locations.hold({ accountId: 'ann', response: answer() }, ready)).toBe('results');
  socket.destroy();
  server.close();
});
