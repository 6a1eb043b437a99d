// The baseline of throughput.ts: sends the same lines to as many readers by plain TCP. Prints its port, starts when all
// readers are connected, and finally prints the bytes sent to each and its memory.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { CONTAINERS, madeUpLines } from './simulated-lines.ts';
import { watchMemory } from './peak-memory.ts';

const [rate = 0, seconds = 0, viewers = 0] = process.argv.slice(2).map(Number);
process.once('disconnect', () => process.exit());
const readers: Socket[] = [];
const server = createServer((socket) => readers.push(socket));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
const memory = watchMemory();
while (readers.length < viewers) await once(server, 'connection');

let text = '';
let sent = 0;
const handOut = () => {
  const bytes = Buffer.from(text);
  text = '';
  sent += bytes.length;
  for (const reader of readers) reader.write(bytes);
};
const write = async () => {
  for await (const line of madeUpLines(rate, seconds)) {
    // Lines of the same tick are sent together.
    if (text === '') setImmediate(handOut);
    text += `${line}\n`;
  }
};
await Promise.all(CONTAINERS.map(write));
setImmediate(() => {
  for (const reader of readers) reader.end();
  process.send?.({ sent, ...memory() });
});
