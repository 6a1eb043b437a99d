import type { Progress } from '../support/progress.ts';
import { withBaseline } from './bench-cluster.ts';
import { coppiceRound, roundFigures, scriptRound, type CoppiceRound, type Round } from './build-rounds.ts';
import type { Figure } from './measure.ts';
import { pushWebAndApi } from './web-repository.ts';

const rounds = 5;
const services = ['web', 'api'].map((name) => ({ name, folder: name }));

/**
 * Measures a branch that changes one of two services, with a warm builder, from spawn to the first response, against a
 * script.
 */
export function benchOneService(progress: Progress): Promise<Figure[]> {
  return withBaseline(progress, async ({ harness, raw }) => {
    const coppice: CoppiceRound[] = [];
    const script: Round[] = [];
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
    return roundFigures('one of two services changed', coppice, script);
  });
}
