import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS_FOLDER } from '../cluster/paths.ts';
import type { Progress } from '../cluster/progress.ts';
import { run } from '../cluster/run.ts';
import { waitFor } from '../cluster/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';
import { withBaseline } from './bench-cluster.ts';
import { coppiceRound, roundFigures, scriptRound, type CoppiceRound, type Round } from './build-rounds.ts';
import { secondsOf, type Figure } from './measure.ts';
import type { RawCluster } from './raw-cluster.ts';
import { buildctlArguments } from './raw-objects.ts';
import { pushWeb } from './web-repository.ts';
import { freePort } from '../local-server.ts';

const rounds = 5;

/**
 * Measures a new commit from spawn to `built` and to the first response, against a script's Job and rollout, and
 * against git with buildctl.
 */
export function benchBuilds(progress: Progress): Promise<Figure[]> {
  return withBaseline(progress, async ({ harness, raw }) => {
    const coppice: CoppiceRound[] = [];
    const script: Round[] = [];
    const floor: number[] = [];
    const origin = `${harness.connection.gitUrl}/${harness.group}/web.git`;
    await pushWeb(origin, 'warm', 'warm');
    const repository = await harness.addRepository('web', origin);
    const byCoppice = async (branch: string) => {
      await pushWeb(origin, branch, branch);
      return coppiceRound(harness, repository, branch, branch);
    };
    const byScript = async (branch: string) => {
      await pushWeb(origin, branch, branch);
      return scriptRound(harness, raw, { origin, branch, text: branch, services: [{ name: 'web', folder: '.' }] });
    };
    await progress.step('one build each to warm the caches', async () => {
      await byCoppice('warm-coppice');
      await byScript('warm-script');
      await floorRound(harness, raw, origin, 'warm-floor');
    });
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        coppice.push(await byCoppice(`coppice-${round}`));
        script.push(await byScript(`script-${round}`));
        floor.push(await floorRound(harness, raw, origin, `floor-${round}`));
      });
    }
    return [
      {
        name: 'new commit: spawn → built',
        unit: 's',
        samples: coppice.map(({ built }) => built),
        baseline: { name: 'git and buildctl, no pods', samples: floor },
        target: 'towards 1.5 ×',
      },
      ...roundFigures('new commit', coppice, script),
    ];
  });
}

/** Runs git and buildctl on this machine with the same buildkitd, through a forwarded port. */
async function floorRound(harness: Harness, raw: RawCluster, origin: string, branch: string): Promise<number> {
  await pushWeb(origin, branch, branch);
  const folder = await mkdtemp(join(tmpdir(), 'coppice-bench-'));
  const port = await freePort();
  const forward = spawn(
    join(PROGRAMS_FOLDER, 'kubectl'),
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
  const buildctl = join(PROGRAMS_FOLDER, 'buildctl');
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
