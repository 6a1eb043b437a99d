import { cpus } from 'node:os';
import { withCleanUp } from '../support/clean-up.ts';
import { onNode } from '../cluster/on-node.ts';
import { Problem } from '../support/problem.ts';
import { run } from '../support/run.ts';
import { commandLines } from './processor-time.ts';

/** Processes that work only for Coppice, by the start of their command line; their child processes stay with them. */
const coppice = [
  /^\S*node (operator|api|waker|tester|registry-tokens)\/main\.ts/,
  /^\S*node \/app\/server\.ts/,
  /^\S*(valkey|redis)-server /,
];

const coreOfClients = '0';
const coreOfCluster = '1';

const pin = ['taskset', '--all-tasks', '--cpu-list', '--pid'] as const;
/** A thread can end meanwhile, which fails the command, and so can the process. */
const pinAll = `
cores=$1; shift
pin() { ${pin.join(' ')} "$cores" "$1" >/dev/null 2>&1; }
for pid in "$@"; do pin "$pid" || pin "$pid" || [ ! -e "/proc/$pid" ] || exit 1; done`;

/**
 * Does the work while Coppice and this process share one core and everything else on the local cluster's node another
 * one, as if the clients of the API server ran on a machine of their own. All processes then get all cores back.
 */
export async function onSeparateCores<T>(work: () => Promise<T>): Promise<T> {
  if (cpus().length < 2) throw new Problem('Clients and cluster need a core each: this machine has only one.');
  const separated = async () => {
    const { clients, others } = byCores(await commands());
    await pinOnNode(coreOfCluster, others);
    await pinOnNode(coreOfClients, clients);
    await pinThis(coreOfClients);
    return work();
  };
  return withCleanUp(separated, giveBack);
}

/** Returns the IDs of the processes that are clients of the cluster, and of all others. */
export function byCores(lines: ReadonlyMap<string, string>): { clients: string[]; others: string[] } {
  const isClient = (command: string) => coppice.some((start) => start.test(command));
  const pids = [...lines];
  return {
    clients: pids.filter(([, command]) => isClient(command)).map(([pid]) => pid),
    others: pids.filter(([, command]) => !isClient(command)).map(([pid]) => pid),
  };
}

async function giveBack(): Promise<void> {
  const all = `0-${cpus().length - 1}`;
  await pinThis(all);
  // The second time includes processes that others had started before those got their cores back.
  for (let time = 0; time < 2; time++) await pinOnNode(all, [...(await commands()).keys()]);
}

async function commands(): Promise<ReadonlyMap<string, string>> {
  return commandLines(await onNode('sh', '-c', "grep -a -s -H '' /proc/[0-9]*/cmdline || true"));
}

async function pinOnNode(cores: string, pids: readonly string[]): Promise<void> {
  await onNode('sh', '-c', pinAll, 'sh', cores, ...pids);
}

async function pinThis(cores: string): Promise<void> {
  const [program, ...options] = pin;
  await run(program, [...options, cores, String(process.pid)]);
}
