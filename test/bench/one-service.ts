import { withCleanUp } from '../cluster/clean-up.ts';
import type { Progress } from '../cluster/progress.ts';
import { randomName, startHarness } from '../end-to-end/harness.ts';
import { removeAll } from './bench-cluster.ts';
import { coppiceRound, scriptRound, type Round } from './build-rounds.ts';
import { stageFigures, type Stages } from './build-stages.ts';
import type { Figure } from './measure.ts';
import { startRawCluster } from './raw-cluster.ts';
import { pushWebAndApi } from './web-repository.ts';

const rounds = 5;
const services = ['web', 'api'].map((name) => ({ name, folder: name }));

/** A branch that changes one of two services, whose builder is warm, from spawn to the first answer; beside a script. */
export async function benchOneService(progress: Progress): Promise<Figure[]> {
  const harness = await startHarness('bench');
  const namespace = randomName('bench');
  const coppice: (Round & { stages: Stages })[] = [];
  const script: Round[] = [];
  const work = async () => {
    const raw = await progress.step('a buildkitd for the baseline', () => startRawCluster(harness, namespace));
    const origin = `${harness.connection.gitUrl}/${harness.group}/pair.git`;
    await pushWebAndApi(origin, 'main', { web: 'main', api: 'the same' });
    const repository = await harness.addRepository('pair', origin);
    const byCoppice = async (branch: string) => {
      await pushWebAndApi(origin, branch, { web: branch, api: 'the same' });
      return coppiceRound(harness, repository, branch, branch);
    };
    const byScript = async (branch: string) => {
      await pushWebAndApi(origin, branch, { web: branch, api: 'the same' });
      return scriptRound(harness, raw, { origin, branch, text: branch, services });
    };
    await progress.step('both services built once by each', async () => {
      await byCoppice('warm-coppice');
      await byScript('warm-script');
    });
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        coppice.push(await byCoppice(`coppice-${round}`));
        script.push(await byScript(`script-${round}`));
      });
    }
  };
  await withCleanUp(work, () => progress.step('clean up', () => removeAll(harness, namespace)));
  const figure = (name: string, key: keyof Round): Figure => ({
    name: `one of two services changed: ${name}`,
    unit: 's',
    samples: coppice.map((round) => round[key]),
    baseline: { name: 'Job and rollout by a script', samples: script.map((round) => round[key]) },
    target: '≤ 1 ×',
  });
  return [
    figure('spawn → built', 'built'),
    figure('spawn → first answer', 'answered'),
    ...stageFigures(
      'one of two',
      coppice.map(({ stages }) => stages),
    ),
  ];
}
