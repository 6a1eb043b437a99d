import { localPageLoader } from '../../tester/browser/local-page-loader.ts';
import type { PageLoader } from '../../tester/browser/page-snapshot.ts';
import { Environments } from '../../tester/network/environments.ts';

/** Returns a page loader with Debian's Chromium, for environments at env.localhost:PORT on this machine. */
export function chromiumPageLoader(port: number, maxBytes = 512 * 1024 * 1024): PageLoader {
  return localPageLoader({
    environments: new Environments(`http://env.localhost:${port}`),
    executable: '/usr/bin/chromium',
    addressOf: async () => '127.0.0.1',
    maxBytes,
  });
}
