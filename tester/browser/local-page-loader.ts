import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Environments } from '../network/environments.ts';
import { CouldNotRun } from '../test-types/kind.ts';
import { killProcesses, watchMemory } from './memory.ts';
import type { PageLoader, PageSnapshot } from './page-snapshot.ts';
import type { VisitOrder, VisitResult } from './visit-process.ts';

export interface BrowserOptions {
  environments: Environments;
  /** Path of Chromium. */
  executable: string;
  /** Returns the address of an environment's host, which is the Ingress controller's. */
  addressOf: (host: string) => Promise<string>;
  /** Maximum memory of the processes of one visit, in bytes. */
  maxBytes: number;
}

const program = new URL('visit-process.ts', import.meta.url);

/** Opens each page in a separate process with a separate browser, which end afterwards. */
export function localPageLoader({ environments, executable, addressOf, maxBytes }: BrowserOptions): PageLoader {
  return async (visit, signal) => {
    if (!environments.has(visit.url))
      throw new CouldNotRun(
        'the page is not at the address of an environment. Use an address of the environment under test',
      );
    const { hostname } = new URL(visit.url);
    const address = await addressOf(hostname).catch((error: unknown) => {
      throw new CouldNotRun(
        `DNS has no address of ${hostname}. Ask an administrator to check the DNS records of environments`,
        { cause: error },
      );
    });
    signal.throwIfAborted();
    const mark = `--coppice-visit=${randomUUID()}`;
    const memory = watchMemory(mark, maxBytes);
    const child = fork(program, [mark], {
      execArgv: [`--max-old-space-size=${Math.floor(maxBytes / 2 ** 20)}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const end = () => {
      child.kill('SIGKILL');
      killProcesses(mark);
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      const result = await resultOf(child, { visit, environmentsUrl: environments.origin, executable, address, mark });
      signal.throwIfAborted();
      if (memory.isExceeded) return oversizedSnapshot(maxBytes);
      if (!result) throw new CouldNotRun('the browser ended while it loaded the page. Run the tests again');
      if ('snapshot' in result) return result.snapshot;
      throw new CouldNotRun(result.reason, { cause: result.cause });
    } finally {
      memory.end();
      signal.removeEventListener('abort', end);
      end();
    }
  };
}

/** Returns undefined if the process ends without a result. */
async function resultOf(child: ChildProcess, order: VisitOrder): Promise<VisitResult | undefined> {
  // The sender is a program of this folder. The channel closes after its last message.
  const message = once(child, 'message').then(([result]) => result as VisitResult);
  const closed = once(child, 'disconnect').then(() => undefined);
  child.send(order, () => undefined);
  return Promise.race([message, closed]);
}

function oversizedSnapshot(maxBytes: number): PageSnapshot {
  const fault = `the page used more than ${Math.round(maxBytes / 1024 / 1024)} MiB of memory. Make it lighter`;
  return { fault, hasText: false, times: {}, errors: [], moreErrors: 0, blocked: [] };
}
