import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { createNamespace, deleteNamespace, randomName, testClient } from '../api-server.ts';

let client: ClusterClient;
let namespace: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  client = testClient();
  namespace = await createNamespace(client);
});

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await deleteNamespace(client, namespace);
  client.close();
});

/** Starts a candidate in a process of its own, with the operator's times. */
function candidate(lease: string) {
  const program = join(REPOSITORY_ROOT, 'test/api-server/lease-candidate.ts');
  const child = spawn(process.execPath, [program, namespace, lease], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  const reported = new Set<string>();
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => reported.add(line));
  const until = async (line: string): Promise<void> => {
    while (!reported.has(line)) await once(lines, 'line');
  };
  return { child, until, leads: () => reported.has('leads') };
}

test.each<[NodeJS.Signals, number]>([
  ['SIGKILL', 20_000],
  ['SIGTERM', 6000],
])(
  'lets another process lead after a %s of the leader, within %i ms',
  async (signal, maxMs) => {
    const lease = randomName('failover');
    const first = candidate(lease);
    await first.until('leads');
    const second = candidate(lease);
    await second.until('waits');
    // By now it has read the Lease.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(second.leads()).toBe(false);
    const killed = Date.now();
    first.child.kill(signal);
    await second.until('leads');
    expect(Date.now() - killed).toBeLessThan(maxMs);
    second.child.kill('SIGTERM');
    await once(second.child, 'exit');
  },
  60_000,
);
