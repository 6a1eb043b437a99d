import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programsFolder } from '../cluster/paths.ts';
import { withCleanUp } from '../cluster/clean-up.ts';
import type { Progress } from '../cluster/progress.ts';
import { run } from '../cluster/run.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { randomName, startHarness, type Harness } from '../end-to-end/harness.ts';
import { removeAll } from './bench-cluster.ts';
import { coppiceRound, scriptRound, type ScriptedBranch } from './build-rounds.ts';
import { stageFigures, type Stages } from './build-stages.ts';
import { secondsOf, type Figure } from './measure.ts';
import { startRawCluster, type RawCluster } from './raw-cluster.ts';
import { buildctlArguments } from './raw-objects.ts';
import { pushWeb } from './web-repository.ts';
import { freePort } from '../local-server.ts';

const rounds = 5;

/** A new commit, from spawn to `built` and to the first answer; beside a script's Job and rollout, and git with buildctl. */
export async function benchBuilds(progress: Progress): Promise<Figure[]> {
  const harness = await startHarness('bench');
  const namespace = randomName('bench');
  const figures: Record<'built' | 'answered' | 'job' | 'jobAnswered' | 'floor', number[]> = {
    built: [],
    answered: [],
    job: [],
    jobAnswered: [],
    floor: [],
  };
  const stages: Stages[] = [];
  const work = async () => {
    const raw = await progress.step('a buildkitd for the baseline', () => startRawCluster(harness, namespace));
    const origin = `${harness.connection.gitUrl}/${harness.group}/web.git`;
    const pushed = async <T>(branch: string, use: (branch: string) => Promise<T>) => {
      await pushWeb(origin, branch, branch);
      return use(branch);
    };
    await pushWeb(origin, 'warm', 'warm');
    const repository = await harness.addRepository('web', origin);
    await progress.step('one build each to warm the caches', async () => {
      await pushed('warm-coppice', (branch) => coppiceRound(harness, repository, branch, branch));
      await pushed('warm-script', (branch) => scriptRound(harness, raw, webOf(origin, branch)));
      await floorRound(harness, raw, origin, 'warm-floor');
    });
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        const coppice = await pushed(`coppice-${round}`, (branch) => coppiceRound(harness, repository, branch, branch));
        figures.built.push(coppice.built);
        figures.answered.push(coppice.answered);
        stages.push(coppice.stages);
        const script = await pushed(`script-${round}`, (branch) => scriptRound(harness, raw, webOf(origin, branch)));
        figures.job.push(script.built);
        figures.jobAnswered.push(script.answered);
        figures.floor.push(await floorRound(harness, raw, origin, `floor-${round}`));
      });
    }
  };
  await withCleanUp(work, () => progress.step('clean up', () => removeAll(harness, namespace)));
  const unit = 's';
  return [
    {
      name: 'new commit: spawn → built',
      unit,
      samples: figures.built,
      baseline: { name: 'Job and rollout by a script', samples: figures.job },
      target: '≤ 1 ×',
    },
    {
      name: 'new commit: spawn → first answer',
      unit,
      samples: figures.answered,
      baseline: { name: 'Job and rollout by a script', samples: figures.jobAnswered },
      target: '≤ 1 ×',
    },
    {
      name: 'new commit: spawn → built',
      unit,
      samples: figures.built,
      baseline: { name: 'git and buildctl, no pods', samples: figures.floor },
      target: 'towards 1.5 ×',
    },
    ...stageFigures('new commit', stages),
  ];
}

/** The branch's page says its name. */
function webOf(origin: string, branch: string): ScriptedBranch {
  return { origin, branch, text: branch, services: [{ name: 'web', folder: '.' }] };
}

/** git and buildctl on this machine, against the same buildkitd by a forwarded port. */
async function floorRound(harness: Harness, raw: RawCluster, origin: string, branch: string): Promise<number> {
  await pushWeb(origin, branch, branch);
  const folder = await mkdtemp(join(tmpdir(), 'coppice-bench-'));
  const port = await freePort();
  const forward = spawn(
    join(programsFolder, 'kubectl'),
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
  const buildctl = join(programsFolder, 'buildctl');
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
