import { localLook } from '../../tester/browser/local-look.ts';
import type { Look } from '../../tester/browser/sight.ts';
import { Environments } from '../../tester/network/environments.ts';

/** Debian's Chromium, for environments at env.localhost:PORT on this machine. */
export function lookByChromium(port: number, mostBytes = 512 * 1024 * 1024): Look {
  return localLook({
    environments: new Environments(`http://env.localhost:${port}`),
    executable: '/usr/bin/chromium',
    addressOf: async () => '127.0.0.1',
    mostBytes,
    now: () => performance.now(),
  });
}
