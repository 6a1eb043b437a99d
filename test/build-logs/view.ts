// The viewers of throughput.ts, of a log's WebSocket or of the raw lines. Says when all are connected, and at the end
// whether each had all, and how late.
import { readBytes, readTextFrames } from './plain-sockets.ts';

const [what, port, count] = process.argv.slice(2);
const delays: number[] = [];
let gaps = 0;

/** Reads without parsing every line, or the viewers would be what is measured. */
function viewLog() {
  let last = 0;
  const reading = readTextFrames(Number(port), (text) => {
    if (seqOf(text.toString('latin1', 0, 30)) !== last + 1) gaps++;
    last = seqOf(text.toString('latin1', text.lastIndexOf(10) + 1));
    note(text);
  });
  return { ...reading, had: () => last };
}

function viewRaw() {
  let bytes = 0;
  const reading = readBytes(Number(port), (chunk) => {
    bytes += chunk.length;
    note(chunk.subarray(0, Math.max(chunk.lastIndexOf(10), 0)));
  });
  return { ...reading, had: () => bytes };
}

/** How late the first and the last of the lines are. */
function note(text: Buffer): void {
  const now = performance.timeOrigin + performance.now();
  for (const some of [text.toString('latin1', 0, 300), text.toString('latin1', text.lastIndexOf(10) + 1)]) {
    const written = /#9 (\d+\.\d+) /.exec(some)?.[1];
    if (written !== undefined) delays.push(now - Number(written));
  }
}

function seqOf(text: string): number {
  return Number(/^\{"seq":(\d+)/.exec(text)?.[1]);
}

const all = Array.from({ length: Number(count) }, what === 'raw' ? viewRaw : viewLog);
await Promise.all(all.map(({ opened }) => opened));
process.send?.('connected');
await Promise.all(all.map(({ closed }) => closed));
delays.sort((a, b) => a - b);
const at = (share: number) => Math.round((delays[Math.floor(delays.length * share)] ?? 0) * 10) / 10;
const delayMs = { p50: at(0.5), p99: at(0.99), most: at(0.99999) };
const had = [...new Set(all.map((one) => one.had()))];
process.send?.({ had, gaps, frames: delays.length / 2, delayMs }, () => process.exit());
