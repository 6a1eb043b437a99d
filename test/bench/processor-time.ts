import { tryOnNode } from '../cluster/on-node.ts';

/** Processes that do work for any client, by the start of their command line. */
const clusterParts = {
  'API server': /^kube-apiserver /,
  etcd: /^etcd /,
  'controller manager': /^kube-controller-manager /,
  'Ingress controller': /^\S*traefik /,
} as const;

/** Processes that do work only for Coppice. A process's time includes that of its finished child processes. */
const coppiceParts = {
  'Git server with its git processes': /^\S*node \/app\/server\.ts/,
  'operator with its git processes': /^\S*node operator\/main\.ts/,
  'API, all replicas': /^\S*node api\/main\.ts/,
} as const;

const parts = { ...clusterParts, ...coppiceParts };

/** Everything else: kubelet and container runtime, the benchmark itself, and other processes of the machine. */
const rest = 'everything else on the machine';

/** CPU seconds since the machine started, by part. */
export type ProcessorTime = ReadonlyMap<string, number>;

/** Ticks of the times in /proc (proc(5): USER_HZ, 100 on all current architectures). */
const ticksPerSecond = 100;

/** Returns the CPU times of the local cluster's node and its machine; empty for another cluster. */
export async function processorTime(): Promise<ProcessorTime> {
  const script = "head -n 1 /proc/stat; grep -a -s -H '' /proc/[0-9]*/stat /proc/[0-9]*/cmdline || true";
  const text = await tryOnNode('sh', '-c', script);
  return text === undefined ? new Map() : processorTimeOf(text);
}

/** Returns the milliseconds that each part used between two measurements; empty if one of them is. */
export function timeSince(before: ProcessorTime, after: ProcessorTime): ReadonlyMap<string, number> {
  if (before.size === 0) return new Map();
  return new Map([...after].map(([part, now]) => [part, (now - (before.get(part) ?? Number.NaN)) * 1000]));
}

/** Returns whether a part does work for clients that know nothing of Coppice. */
export function worksForAnyClient(part: string): boolean {
  return !(part in coppiceParts);
}

/** Parses the line `cpu` of /proc/stat, and lines `/proc/PID/stat:…` and `/proc/PID/cmdline:…`. */
export function processorTimeOf(text: string): ProcessorTime {
  const ticks = new Map<string, number>();
  for (const [, pid = '', line = ''] of text.matchAll(/^\/proc\/(\d+)\/stat:(.*)$/gm)) ticks.set(pid, ticksOf(line));
  const seconds = new Map<string, number>(Object.keys(parts).map((part) => [part, 0]));
  for (const [pid, command] of commandLines(text)) {
    const part = Object.entries(parts).find(([, start]) => start.test(command))?.[0];
    if (part) seconds.set(part, (seconds.get(part) ?? 0) + (ticks.get(pid) ?? 0) / ticksPerSecond);
  }
  const known = [...seconds.values()].reduce((sum, one) => sum + one, 0);
  return seconds.set(rest, busySeconds(text) - known);
}

/** Returns the first line of each process's command line by its ID, from lines `/proc/PID/cmdline:…`. */
export function commandLines(text: string): ReadonlyMap<string, string> {
  const commands = new Map<string, string>();
  for (const [, pid = '', line = ''] of text.matchAll(/^\/proc\/(\d+)\/cmdline:(.*)$/gm))
    if (!commands.has(pid)) commands.set(pid, line.replaceAll('\0', ' '));
  return commands;
}

/**
 * Returns the sum of utime, stime, cutime and cstime, fields 14 to 17 of /proc/pid/stat (proc(5)). The second field, in
 * parentheses, can contain spaces and parentheses.
 */
function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/**
 * Returns all times in /proc/stat (proc(5)) except idle, iowait and steal; a guest's time is included in user and nice.
 */
function busySeconds(text: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (/^cpu +(.*)$/m.exec(text)?.[1] ?? '')
    .split(' ')
    .map(Number);
  return (user + nice + system + irq + softirq) / ticksPerSecond;
}
