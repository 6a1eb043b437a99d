import { z } from 'zod';
import type { Kubectl } from '../cluster/kubectl.ts';

/** Runs in the pod, where the program's inspector listens on the loopback interface only. */
const script = `
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const pid = readdirSync('/proc').find((name) => {
  if (!/^[0-9]+$/.test(name)) return false;
  try {
    const [node, program] = readFileSync('/proc/' + name + '/cmdline', 'latin1').split('\\0');
    return node.endsWith('node') && program === process.argv[1];
  } catch (error) {
    // The process has ended.
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return false;
    throw error;
  }
});
if (pid === undefined) throw new Error('no process runs ' + process.argv[1]);
// Node's documented request to start the inspector.
process.kill(Number(pid), 'SIGUSR1');
let targets;
for (let attempt = 0; targets === undefined; attempt++) {
  await delay(100);
  targets = await fetch('http://127.0.0.1:9229/json/list').then((response) => response.json(), (error) => {
    if (attempt === 50) throw error;
  });
}
const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
let last = 0;
function ask(method, params) {
  const id = ++last;
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(data);
      if (answer.id === id) resolve(answer);
    });
    socket.send(JSON.stringify({ id, method, params }));
  });
}
await ask('HeapProfiler.collectGarbage');
const { result } = await ask('Runtime.evaluate', { expression: 'process.memoryUsage()', returnByValue: true });
// Closing the inspector waits for its clients, so this one leaves first.
const expression = "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 1000)";
await ask('Runtime.evaluate', { expression });
socket.close();
console.log(JSON.stringify(result.result.value));
`;

const memorySchema = z.object({ heapUsed: z.number(), external: z.number() });

/**
 * Collects garbage in a program of a pod of Coppice, and returns how many MiB its objects and buffers use then. `program` is
 * the program's path in the image, such as `operator/main.ts`.
 */
export async function liveMemoryMiB(kubectl: Kubectl, pod: string, program: string): Promise<number> {
  const node = ['node', '--input-type=module', '--eval', script, program];
  const printed = await kubectl(['--namespace', 'coppice-system', 'exec', pod, '--', ...node], { deadline: 60 });
  const { heapUsed, external } = memorySchema.parse(JSON.parse(printed));
  return (heapUsed + external) / 2 ** 20;
}
