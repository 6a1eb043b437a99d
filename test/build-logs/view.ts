// The viewers of throughput.ts. Says when all are connected, and at the end whether each had each line, and how late.
import { WebSocket } from 'ws';

const [port, count = 0] = process.argv.slice(2).map(Number);
const delays: number[] = [];
let gaps = 0;

/** Reads without parsing every line, or the viewers would be what is measured. */
function view(): { opened: Promise<unknown>; closed: Promise<number> } {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false, skipUTF8Validation: true });
  let last = 0;
  socket.on('message', (data: Buffer) => {
    const now = performance.timeOrigin + performance.now();
    const first = /^\{"seq":(\d+),.*?#9 (\d+\.\d+) /.exec(data.toString('latin1', 0, 200));
    if (Number(/^\{"seq":(\d+)/.exec(data.toString('latin1', 0, 30))?.[1]) !== last + 1) gaps++;
    const tail = data.toString('latin1', data.lastIndexOf(10) + 1);
    last = Number(/^\{"seq":(\d+)/.exec(tail)?.[1]);
    const newest = /#9 (\d+\.\d+) /.exec(tail);
    for (const written of [first?.[2], newest?.[1]]) if (written !== undefined) delays.push(now - Number(written));
  });
  return {
    opened: new Promise((resolve) => socket.once('open', resolve)),
    closed: new Promise((resolve) => socket.once('close', () => resolve(last))),
  };
}

const all = Array.from({ length: count }, view);
await Promise.all(all.map(({ opened }) => opened));
process.send?.('connected');
const counts = await Promise.all(all.map(({ closed }) => closed));
delays.sort((a, b) => a - b);
const at = (share: number) => Math.round((delays[Math.floor(delays.length * share)] ?? 0) * 10) / 10;
const delayMs = { p50: at(0.5), p99: at(0.99), most: at(0.99999) };
process.send?.({ messagesEach: [...new Set(counts)], gaps, frames: delays.length / 2, delayMs }, () => process.exit());
