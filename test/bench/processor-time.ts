import { tryOnNode } from '../cluster/on-node.ts';

/** What any client gives work to, by what its command line starts with. */
const CLUSTER_PARTS = {
  'API server': /^kube-apiserver /,
  etcd: /^etcd /,
  'controller manager': /^kube-controller-manager /,
  'Ingress controller': /^\S*traefik /,
} as const;

/** What Coppice alone gives work to. A process has the time of the programs too that it started and that have ended. */
const COPPICE_PARTS = {
  'Git server with its git processes': /^\S*node \/app\/server\.ts/,
  'operator with its git processes': /^\S*node operator\/main\.ts/,
  'API, all replicas': /^\S*node api\/main\.ts/,
} as const;

const PARTS = { ...CLUSTER_PARTS, ...COPPICE_PARTS };

/** What none of them has: kubelet and container runtime, the benchmark itself, whatever else runs on the machine. */
const REST = 'everything else on the machine';

/** Seconds of processors since the machine started, by part. */
export type ProcessorTime = ReadonlyMap<string, number>;

/** A tick of the times in /proc (proc(5): USER_HZ, which is 100 on every architecture that Linux is made for today). */
const ticksPerSecond = 100;

/** Of the local cluster's node, and of the machine that it is on; nothing of another cluster. */
export async function processorTime(): Promise<ProcessorTime> {
  const script = "head -n 1 /proc/stat; grep -a -s -H '' /proc/[0-9]*/stat /proc/[0-9]*/cmdline || true";
  const text = await tryOnNode('sh', '-c', script);
  return text === undefined ? new Map() : processorTimeOf(text);
}

/** What each part took between the two, in milliseconds; nothing where one of them is of nothing. */
export function timeSince(before: ProcessorTime, after: ProcessorTime): ReadonlyMap<string, number> {
  if (before.size === 0) return new Map();
  return new Map([...after].map(([part, now]) => [part, (now - (before.get(part) ?? Number.NaN)) * 1000]));
}

/** Whether a part has work of a client that knows nothing of Coppice. */
export function worksForAnyClient(part: string): boolean {
  return !(part in COPPICE_PARTS);
}

/** Reads the line `cpu` of /proc/stat, and lines `/proc/PID/stat:…` and `/proc/PID/cmdline:…`. */
export function processorTimeOf(text: string): ProcessorTime {
  const ticks = new Map<string, number>();
  const commands = new Map<string, string>();
  for (const [, pid = '', file, line = ''] of text.matchAll(/^\/proc\/(\d+)\/(stat|cmdline):(.*)$/gm)) {
    // A command line with line breaks goes on in lines that are not read.
    if (file === 'cmdline') commands.set(pid, line.replaceAll('\0', ' '));
    else ticks.set(pid, ticksOf(line));
  }
  const seconds = new Map<string, number>(Object.keys(PARTS).map((part) => [part, 0]));
  for (const [pid, command] of commands) {
    const part = Object.entries(PARTS).find(([, start]) => start.test(command))?.[0];
    if (part) seconds.set(part, (seconds.get(part) ?? 0) + (ticks.get(pid) ?? 0) / ticksPerSecond);
  }
  const known = [...seconds.values()].reduce((sum, one) => sum + one, 0);
  return seconds.set(REST, busySeconds(text) - known);
}

/** proc(5), /proc/pid/stat: utime, stime, cutime and cstime, fields 14 to 17. The second, in brackets, may hold spaces and brackets. */
function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** proc(5), /proc/stat: all but idle, iowait, and what a hypervisor took; a guest's time is in user's and nice's already. */
function busySeconds(text: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (/^cpu +(.*)$/m.exec(text)?.[1] ?? '')
    .split(' ')
    .map(Number);
  return (user + nice + system + irq + softirq) / ticksPerSecond;
}
