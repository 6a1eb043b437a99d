import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../bench/measure.ts';
import { cleanUpAfter, withCleanUp } from '../cluster/clean-up.ts';
import type { Progress } from '../cluster/progress.ts';
import { startHarness } from '../end-to-end/harness.ts';
import { FaultWorld, type Sizes } from './fault-world.ts';
import { delayFrom, movesFrom } from './moves.ts';
import { nothingLeft } from './nothing-left.ts';
import type { Strike } from './strikes.ts';

const commonly: Sizes = { moving: 40, running: 0, built: 2 };

/**
 * Strikes once while environments live through the moves of this seed, at the first moment after the seed's delay at which
 * there are some in each of the states; throws when one does not end where it belongs.
 */
export async function strikeOnce(
  { prepare, strike, requireHarm, endsBuilds = false, takesExpired = false, sizes, withinSeconds = 300 }: Strike,
  given: Partial<Sizes>,
  seed: number,
  progress: Progress,
): Promise<Figure[]> {
  const { moving, running, built } = { ...commonly, ...sizes, ...given };
  const moves = movesFrom(seed, moving + running);
  const harness = await startHarness('fault');
  const { kubectl } = harness;
  const ready = prepare && progress.step('make ready', () => prepare(kubectl));
  const takeBack = await ready?.catch((error: unknown) => cleanUpAfter(error, () => harness.removeAndWait()));
  const struckOnce = () =>
    nothingLeft(harness, progress, async () => {
      const count = moving + running + built;
      const world = await progress.step(`${count} environments`, () =>
        FaultWorld.start(harness, { moving, running, built }, { takesExpired }),
      );
      const struck = async () => {
        await progress.step('some are built, builds of others begin', () => world.begin());
        const { states, whole, itself } = await progress.step('strike, and wait until all is well', async () => {
          const strikeThen = async () => {
            await sleep(delayFrom(seed));
            const states = await world.inAllStates();
            const begun = Date.now();
            await strike(kubectl);
            return { states, begun, over: Date.now() };
          };
          const [, { states, begun, over }] = await Promise.all([world.move(moves), strikeThen()]);
          await world.requireAllWell(moves, { withinSeconds, endsBuilds });
          await requireHarm?.(kubectl);
          return { states, whole: (Date.now() - begun) / 1000, itself: (over - begun) / 1000 };
        });
        const name = `from the strike until ${count} environments are where they belong (seed ${seed}; at the strike ${states})`;
        const baseline = { name: 'the strike itself', samples: [itself] };
        return [
          { name, unit: 's', samples: [whole], ...(itself > 1 && { baseline }) },
          { name: 'connections of a viewer who stayed, at most', unit: '', samples: [Math.max(...world.connections)] },
        ];
      };
      return withCleanUp(struck, () => world.stop());
    });
  return takeBack ? withCleanUp(struckOnce, () => progress.step('take it back', takeBack)) : struckOnce();
}
