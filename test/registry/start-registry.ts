import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../local-server.ts';
import { run } from '../support/run.ts';
import { IMAGES } from '../cluster/versions.ts';
import { waitFor } from '../support/wait-for.ts';

/** A separate registry for a test: an empty Distribution in a container, on a free loopback port. */
export interface TestRegistry {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  stop: () => Promise<void>;
}

/**
 * Starts a registry.
 * @param auth `auth` in its configuration file, which can refer to `/etc/distribution/authority.crt`
 */
export async function startRegistry(auth: object, authority: string): Promise<TestRegistry> {
  const port = await freePort();
  const container = (await run('docker', ['create', '--publish', `127.0.0.1:${port}:5000`, IMAGES.registry])).trim();
  const stop = async () => void (await run('docker', ['rm', '--force', '--volumes', container]));
  const folder = mkdtempSync(join(tmpdir(), 'coppice-registry-'));
  try {
    // The files are copied as a tar archive, because the engine may have another file system.
    const files = join(folder, 'distribution');
    mkdirSync(files);
    const configuration = {
      version: 0.1,
      log: { level: 'error', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: '/var/lib/registry' }, delete: { enabled: true } },
      http: { addr: ':5000' },
      auth,
    };
    writeFileSync(join(files, 'config.yml'), JSON.stringify(configuration));
    writeFileSync(join(files, 'authority.crt'), authority);
    await run('docker', ['cp', files, `${container}:/etc/`]);
    await run('docker', ['start', container]);
    const origin = `http://127.0.0.1:${port}`;
    await waitFor('the registry', 30, () =>
      fetch(`${origin}/v2/`).then(
        ({ status }) => (status === 401 ? true : undefined),
        () => undefined,
      ),
    );
    return { origin, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
