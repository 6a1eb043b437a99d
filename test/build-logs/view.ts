// The viewers of throughput.ts, of a log's WebSocket or of the raw lines. Reports when all are connected, when all are
// closed, and then whether each has received everything, with the delays.
import { MARK } from './simulated-lines.ts';
import { readBytes, readTextFrames } from './plain-sockets.ts';

const [what, port, count] = process.argv.slice(2);
process.once('disconnect', () => process.exit());
const mark = MARK.charCodeAt(0);
const delays: number[] = [];
let gaps = 0;

/** Views without parsing every line, which would dominate the measurement. `had` counts messages. */
function viewLog() {
  let last = 0;
  const reading = readTextFrames(Number(port), (text) => {
    if (seqOf(text.toString('latin1', 0, 30)) !== last + 1) gaps++;
    last = seqOf(text.toString('latin1', text.lastIndexOf(10) + 1));
    noteDelays(text);
  });
  return { ...reading, had: () => last };
}

/** `had` counts bytes. */
function viewRaw() {
  let bytes = 0;
  const reading = readBytes(Number(port), (chunk) => {
    bytes += chunk.length;
    noteDelays(chunk);
  });
  return { ...reading, had: () => bytes };
}

/** Records the delay of each line with a due time; ignores lines split at that position. */
function noteDelays(text: Buffer): void {
  const now = performance.timeOrigin + performance.now();
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const due = /^#(\d+\.\d{3}) /.exec(text.toString('latin1', at, at + 24))?.[1];
    if (due !== undefined) delays.push(now - Number(due));
  }
}

function seqOf(text: string): number {
  return Number(/^\{"seq":(\d+)/.exec(text)?.[1]);
}

const all = Array.from({ length: Number(count) }, what === 'raw' ? viewRaw : viewLog);
await Promise.all(all.map(({ opened }) => opened));
process.send?.('connected');
await Promise.all(all.map(({ closed }) => closed));
process.send?.('closed');
delays.sort((a, b) => a - b);
const at = (share: number) => delays[Math.floor(delays.length * share)];
const delayMs = { p50: at(0.5), p99: at(0.99), max: delays.at(-1) };
process.send?.({ had: [...new Set(all.map((one) => one.had()))], gaps, delayMs }, () => process.exit());
