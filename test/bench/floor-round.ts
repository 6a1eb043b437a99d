import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath, toolPath } from '../cluster/go/programs.ts';
import { run } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';
import { freePort } from '../local-server.ts';
import { secondsOf } from './measure.ts';
import type { RawCluster } from './raw-cluster.ts';
import { buildctlArguments } from './raw-objects.ts';
import { pushWeb } from './web-repository.ts';

/** Pushes a branch, and runs git and buildctl on this machine with the same buildkitd, through a forwarded port. */
export async function floorRound(harness: Harness, raw: RawCluster, origin: string, branch: string): Promise<number> {
  await pushWeb(origin, branch, branch);
  const folder = await mkdtemp(join(tmpdir(), 'coppice-bench-'));
  const port = await freePort();
  const forward = spawn(
    toolPath('kubectl'),
    [
      '--kubeconfig',
      harness.connection.kubeconfig,
      '-n',
      raw.namespace,
      'port-forward',
      'service/buildkitd',
      `${port}:1234`,
    ],
    { stdio: 'ignore' },
  );
  const buildctl = programPath('buildctl');
  const address = `--addr=tcp://127.0.0.1:${port}`;
  const env = { DOCKER_CONFIG: folder };
  try {
    await writeFile(join(folder, 'config.json'), raw.dockerConfig, { mode: 0o600 });
    await waitFor('the forwarded port', 10, () => run(buildctl, [address, 'debug', 'workers']));
    const image = `${raw.registry}/bench/web:${raw.namespace}-${branch}`;
    return await secondsOf(async () => {
      await run('git', ['clone', '--quiet', '--depth=1', '--branch', branch, origin, join(folder, 'code')]);
      await run(buildctl, [address, ...buildctlArguments(join(folder, 'code'), image)], { env });
    });
  } finally {
    forward.kill();
    await rm(folder, { recursive: true, force: true });
  }
}
