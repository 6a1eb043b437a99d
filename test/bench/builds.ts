import type { Progress } from '../support/progress.ts';
import { withBaseline } from './bench-cluster.ts';
import { coppiceRound, roundFigures, scriptRound, type CoppiceRound, type Round } from './build-rounds.ts';
import { floorRound } from './floor-round.ts';
import type { Figure } from './measure.ts';
import { pushWeb } from './web-repository.ts';

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
