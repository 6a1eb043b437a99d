// What throughput.ts measures against: a server that hands the same lines to as many readers and does nothing else, as the
// kubelet hands out a container's log. Says its port; begins when it is told to.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { containers, madeUpLines } from './made-up-lines.ts';

const [rate = 0, seconds = 0] = process.argv.slice(2).map(Number);
const readers: Socket[] = [];
const server = createServer((socket) => readers.push(socket));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
await once(process, 'message');

let text = '';
const handOut = () => {
  const bytes = Buffer.from(text);
  text = '';
  for (const reader of readers) reader.write(bytes);
};
const write = async () => {
  for await (const line of madeUpLines(rate, seconds)) {
    // What comes in the same turn goes together.
    if (text === '') setImmediate(handOut);
    text += `${line}\n`;
  }
};
await Promise.all(containers.map(write));
setImmediate(() => {
  for (const reader of readers) reader.end();
  server.close();
  process.disconnect();
});
