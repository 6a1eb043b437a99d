import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../bench/measure.ts';
import { cleanUpAfter, withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { startHarness } from '../end-to-end/harness.ts';
import { FaultWorld, type Sizes } from './fault-world.ts';
import { delayFrom, movesFrom } from './moves.ts';
import { nothingLeft } from './nothing-left.ts';
import type { Fault } from './fault-list.ts';

const commonly: Sizes = { moving: 40, running: 0, built: 2 };

/**
 * Injects a fault once while environments go through the moves of this seed: after the seed's delay, at the first moment
 * at which all states occur. Throws if an environment does not settle in its expected state.
 */
export async function injectOnce(
  { prepare, inject, requireHarm, endsBuilds = false, takesExpired = false, sizes, withinSeconds = 300 }: Fault,
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
  const injectedOnce = () =>
    nothingLeft(harness, progress, async () => {
      const count = moving + running + built;
      const world = await progress.step(`${count} environments`, () =>
        FaultWorld.start(harness, { moving, running, built }, { takesExpired }),
      );
      const injected = async () => {
        await progress.step('some are built, builds of others start', () => world.start());
        const { states, whole, itself } = await progress.step('inject the fault, and wait for recovery', async () => {
          const injectThen = async () => {
            await sleep(delayFrom(seed));
            const states = await world.inAllStates();
            const started = Date.now();
            await inject(kubectl);
            return { states, started, over: Date.now() };
          };
          const [, { states, started, over }] = await Promise.all([world.move(moves), injectThen()]);
          await world.requireAllWell(moves, { withinSeconds, endsBuilds });
          await requireHarm?.(kubectl);
          return { states, whole: (Date.now() - started) / 1000, itself: (over - started) / 1000 };
        });
        const circumstances = `seed ${seed}; ${count} environments: ${states}`;
        const baseline = { name: 'the fault itself', samples: [itself] };
        return [
          {
            name: 'all environments settled',
            circumstances,
            unit: 's',
            samples: [whole],
            ...(itself > 1 && { baseline }),
          },
          { name: 'log viewer connections, at most', unit: '', samples: [Math.max(...world.connections)] },
        ];
      };
      return withCleanUp(injected, () => world.stop());
    });
  return takeBack ? withCleanUp(injectedOnce, () => progress.step('take it back', takeBack)) : injectedOnce();
}
