import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import { Source } from './source.ts';
import { gitHttp } from './testing/git-http.ts';

/** How long a Git process waits for its host. */
const timeoutMs = 2000;

let folder = '';
const servers: Server[] = [];
let requestsToHanging = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-fairness-'));
  execFileSync('git', ['init', '--quiet', '--bare', 'shop.git'], { cwd: folder });
  requestsToHanging = 0;
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/**
 * 8 groups send 48 requests for 6 names of one host that hangs, then another account's group requests a host that
 * responds.
 */
async function attack(tenantOf: (group: number) => string) {
  const hanging = await listen(() => void (requestsToHanging += 1));
  const answering = await listen(gitHttp(() => folder));
  const source = new Source({
    isAddressAllowed: () => true,
    ports: [hanging, answering],
    sshPorts: [],
    scratch: folder,
    timeoutMs,
    lookup: () => Promise.resolve([{ address: '127.0.0.1' }]),
  });
  const list = (origin: string, flowOwner: FlowOwner) => source.listRefs({ origin, credentials: undefined, flowOwner });
  const attackers = Array.from({ length: 48 }, (_, index) => {
    const group = index % 8;
    const origin = `http://host-${index % 6}.evil.example:${hanging}/shop.git`;
    return list(origin, { tenant: tenantOf(group), group: `evil-${group}` }).catch(() => undefined);
  });
  const startedAt = performance.now();
  // The attack takes its slots before the victim's request.
  while (requestsToHanging < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  const askedAt = performance.now();
  await list(`http://git.example:${answering}/shop.git`, { tenant: 'victim', group: 'shop' });
  const victimMs = performance.now() - askedAt;
  await Promise.all(attackers);
  return { victimMs, attackMs: performance.now() - startedAt };
}

test('delays nobody else when hosts of one account hang, and sends each of these one request', async () => {
  const { victimMs, attackMs } = await attack(() => 'account evil');
  expect(victimMs).toBeLessThan(timeoutMs - 200);
  // Most of the 48 calls are skipped, because their host timed out before: two at once for each of 6 names, and on a
  // busy machine some more.
  expect(requestsToHanging).toBeLessThanOrEqual(18);
  expect(attackMs).toBeLessThan((18 / 3 + 4) * timeoutMs);
});
