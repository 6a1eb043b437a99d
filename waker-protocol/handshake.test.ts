import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { shakeHands, type Side } from './handshake.ts';
import { jsonLines } from './lines.ts';

const open: { destroy: () => void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Returns both ends of a connection. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const other = await accepted;
  server.close();
  open.push(client, other);
  return [client, other];
}

const shake = (side: Side, socket: Socket, key: string) => shakeHands(side, socket, jsonLines(socket), key);

test('both sides with the key accept each other', async () => {
  const [operator, waker] = await pair();
  await Promise.all([shake('operator', operator, 'k'), shake('waker', waker, 'k')]);
});

test('a side without the key is refused', async () => {
  const [operator, stranger] = await pair();
  const results = await Promise.allSettled([shake('operator', operator, 'k'), shake('waker', stranger, 'other')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test("a side cannot return the other's own proof", async () => {
  const [operator, stranger] = await pair();
  stranger.pipe(stranger);
  await expect(shake('operator', operator, 'k')).rejects.toThrow('does not have the key');
});

test('a line without end is refused', async () => {
  const [one, other] = await pair();
  const lines = jsonLines(one);
  const reading = lines.next();
  other.write('x'.repeat(1024 * 1024 + 1));
  await expect(reading).rejects.toThrow('more than');
});
